def f(a):
    yield
    yield a
    x = yield
    x = yield a
    y = yield from a
    yield from a
    print((yield))
    for i in a:
        yield i
    return y


def g(a):
    if a:
        return
    yield 1


def h(a):
    while True:
        b = yield a
        if b:
            break
    try:
        yield b
    finally:
        x(b)
