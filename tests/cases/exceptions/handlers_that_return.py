# depyf-case: versions 3.8-3.8
def handles_within(a, b):
    try:
        c, d = a[0]
    except IndexError:
        try:
            b.recv(1)
        except OSError:
            pass
        return
    if c is d:
        raise b
    b(c, d)


def handles_at_the_end(a, b):
    try:
        return a[0]
    except IndexError:
        try:
            b.recv(1)
        except OSError:
            pass
    return b
