# depyf-case: versions 3.10-
match x:
    case 1:
        y = 1
    case [y]:
        pass


def in_loops(a):
    for b in a:
        match b:
            case 0:
                continue
            case 1:
                break
            case [c]:
                x(c)
        x(b)
    while a:
        match a:
            case 0 | 1:
                x(0)
            case _:
                x(1)


def in_statements(a):
    with a:
        match a:
            case 0:
                x(0)
            case [b]:
                return b
    try:
        match a:
            case [b, c]:
                x(b)
            case _:
                x(1)
    except E:
        x(2)
    x(3)


def nested(a):
    match a:
        case [b]:
            match b:
                case [c]:
                    x(c)
                case {}:
                    x(b)
        case {"k": b, **c}:
            if b:
                x(b)
            else:
                x(c)
        case _:
            x(a)
    x(1)


def store(a):
    global d
    match a:
        case P(b=[c, *d], e=_):
            x(c, d)
        case q.P() as d:
            x(1)
