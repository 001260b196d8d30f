def f(a):
    global x
    [(x := y) for y in a]


def g():
    v = 1

    def h(a):
        nonlocal v
        return [(v := b) for b in a]

    return h


async def generator(a):
    if False:
        yield
    await a


def shared(a):
    if False:
        lambda: a
    return a


def shared_in_dead_code(a):
    if False:
        b = lambda: b
    return a


class C:
    def f(self):
        nonlocal __class__
        del __class__
