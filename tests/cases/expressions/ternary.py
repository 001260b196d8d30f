def f(a, b, c, d, e):
    x = a if b else c
    y(a if b else c, d)
    x = a if b else c if d else e
    x = (a if b else c) if d else e
    x = a if b and c else d
    x = a if not b else c
    x = a + (b if c else d)
    x = a and (b if c else d)
    return a if b else c


def g(a, b, c):
    if a:
        raise E(a, b if b else c)
    return a, b if a.b() else c.d
