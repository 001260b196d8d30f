# depyf-case: versions 3.11-
def f(a, b):
    x = f"%s.%s.%s{{}}" % (a, b, a)
    return x % (a, b)


def chains(a, b):
    if a is not None and a is b is None:
        print(1)
    if a is b is not None:
        return 1
    return 3


def asserted(a, b, c, d):
    if a in b:
        assert c is d
    if a in b:
        assert c not in d
    return a


def compiled_to_an_f_string(a, b, c):
    x = "%s: %5r%% of %-10.3a" % (a, b.c(), c)
    y = ("%s" % (a if b else c,)).join("{%s}" % (b,))
    return x, y, f"{a!s}: {b!r:>5}", f"{a!s}"
