def f(a):
    _, _, x = a
    for _, _, y in a:
        x()
    *_, z = a
    return [w for _, _, w in a]


def g(a, b):
    raise E(a, "was" if a == 1 and not b else "were")


async def agen():
    if False:
        yield
    await a
