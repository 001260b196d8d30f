def f1(it):
    a = b = (i for i in it())
    return a is b


def f4():
    a = b = lambda: 1
    return a is b


def f5(o):
    o.x = o.y = lambda: 1
    return o.x is o.y


def f6(n):
    a = b = lambda k=n(): k
    return a is b


def f7():
    a = b = c = lambda: 1
    return a is b


def f11(z):
    d = z.a = z.b[0] = lambda: d
    return d
