def f(a):
    if a:
        raise
    if a.b:
        raise ValueError
    if a.c:
        raise ValueError("x") from a
    if a.d:
        raise ValueError from None


def g(a):
    return a


def h(a):
    if a:
        return
    print(a)
