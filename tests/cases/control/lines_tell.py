# depyf-case: versions -3.10
def other(a):
    if a:
        return b()
    else:
        return c()


def after(a):
    if a:
        return b()
    return c()


def chain(a):
    if a:
        return b()
    elif c:
        return d()
    else:
        raise e


def written(a):
    for b in a:
        c(b)
    return None


def fails(a):
    import b, c
    try:
        d(a)
    except e as f:
        g(f)
        raise
    if a:
        for h in b:
            c(h)
    elif b:
        if c:
            d()
    else:
        e()
