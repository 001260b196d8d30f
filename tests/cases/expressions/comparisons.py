def f(a, b, c, d):
    x(a < b)
    x(a <= b, a == b, a != b, a > b, a >= b)
    x(a is b, a is not b, a in b, a not in b)
    x(a < b < c)
    x(a < b() < c() < d)
    x((a < b) < c)
    x(a is None, a is not None)
    if a < b < c:
        x(1)
    if not a < b < c:
        x(2)
    if a < b < c and d:
        x(3)
    return a == b == c
