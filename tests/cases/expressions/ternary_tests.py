def in_statements(x, c):
    if not x.a() if not c else x:
        f()
    elif x.b() if c else not x.d():
        g()
    k()


def in_comprehensions(xs, c):
    a = [x for x in xs if (not x.a() if not c else x)]
    b = {x for x in xs if (x.a() if c else x)}
    return a, b, list(x for x in xs if (x.a() if c else not x.b()))


def in_values(val, ignore, default):
    if not val if ignore is None else val in f(ignore):
        val = default
    return default % val
