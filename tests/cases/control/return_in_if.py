def f(a):
    if a:
        return 1
    return 2


def g(a, b):
    if a:
        if b:
            return 1
        return 2
    if b:
        return 3
    return 4


def h(a, b):
    if a:
        x(1)
        return None
    if b:
        return b
    x(2)
