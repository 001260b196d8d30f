def f(a):
    def g(b):
        return a + b

    return g


def h():
    x = 0

    def inc():
        nonlocal x
        x += 1
        return x

    def get():
        return x

    return inc, get


def k(a, *args):
    return [lambda: a, lambda: args]
