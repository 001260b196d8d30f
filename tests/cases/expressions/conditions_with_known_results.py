def assigned(t, a, b, c, d):
    v = (c if t else a and b) or d
    w = (c if t else a or b) and d
    x = f(((a if t else b and c) or d) and w)
    for y in (a if t else b and c) or d:
        g(y)
    return v, w, x


def tested(t, a, b, c):
    if a + ((b if t else a and c) or b):
        return g(a and (b or c if t else a), key=(b if t else a and c) or b)
    return a and (b or c if t else a)


def ended(t, a, b, c):
    v = a or (b and c if t else a)
    return v


def returned(t, a, b, c):
    return a + (a or b if t else b or c)
