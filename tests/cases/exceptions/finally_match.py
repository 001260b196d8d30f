# depyf-case: versions 3.10-
def in_cases(x, n, manager, other):
    try:
        x.go()
    finally:
        match n, x:
            case [first, True]:
                with manager():
                    x.take(first)
            case {"key": value, **rest} if value:
                x.take(value, rest)
            case Point(x=1 | 2 as where, y=None):
                x.take(where)
            case _:
                with manager(), other():
                    x.rest()
    return x


def alone(x, n, manager):
    try:
        x.go()
    finally:
        match n:
            case [first, *rest, True]:
                with manager():
                    x.take(first, rest)


def in_a_loop(xs, n):
    for x in xs:
        try:
            x.go()
        finally:
            match n:
                case [first, "a"]:
                    x.take(first)
                case _:
                    x.rest()
