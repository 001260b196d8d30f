def f(a, b, c):
    x = a and b or c
    y = (a or b) and c
    z = a and 'x' or 'y'
    return not not a


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
