def f(a, b):
    with a:
        x(1)
    with a as c:
        x(c)
    with a as c, b as d:
        x(c, d)
    with a as (c, d):
        x(c, d)
    with a.b() as c.d:
        x(2)
    with a:
        return b
