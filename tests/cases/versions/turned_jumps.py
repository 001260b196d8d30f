# depyf-case: versions 3.13-3.14
def g(a, b):
    for x in a:
        yield x
        if b:
            continue
        x()


def h(a, b):
    for x in a:
        yield x
        if not b:
            x()
