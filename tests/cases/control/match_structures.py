# depyf-case: versions 3.10-
def f(a):
    match a:
        case []:
            x(0)
        case [b]:
            x(b)
        case [b, c]:
            x(b, c)
        case [b, *c]:
            x(b, c)
        case {"k": b}:
            x(b)
        case {"k": 1, **rest}:
            x(rest)
        case Point(b, y=0):
            x(b)
        case Point():
            x(1)
        case 1 | 2 as b:
            x(b)
        case b if b > 10:
            x(b)
        case b:
            x(b)
