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
