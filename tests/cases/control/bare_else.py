# depyf-case: versions 3.11-
def returns(c, d, n):
    if c < d:
        x = 1
    else:
        return
    n(x)
    d(x)


def returns_within(c, d, n):
    if c:
        if d:
            x = 1
        else:
            return
        n(x)
        d(x)


def returns_at_end(c, n):
    if c:
        n()
    else:
        return None


def goes_on(c, d, n):
    for a in c:
        if a:
            x = 1
        else:
            continue
        n(x)
        d(x)


def breaks(c, n):
    for a in c:
        if a:
            x = 1
        else:
            break
        n(x)
        x()
    n()
