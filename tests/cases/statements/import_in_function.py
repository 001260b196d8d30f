def f():
    import a
    import a.b.c as d
    from e import f, g as h
    from . import i
    return a, d, f, h, i
