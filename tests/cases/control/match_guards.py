# depyf-case: versions 3.10-
def several(a, b):
    match a:
        case 0 if b:
            x(0)
        case 1 if b and a or x():
            x(1)
        case c if not b:
            x(c)
        case [c, *_] if d := x(c):
            x(d)
        case _:
            x(2)
    x(b)


def last(a):
    match a:
        case 0:
            x(0)
        case b if b > 1:
            x(b)
    x(1)


def leaves(a):
    match a:
        case 0 if x():
            return 1
        case [b] if b:
            return 2
    return 3
