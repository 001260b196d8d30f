# depyf-case: versions 3.10-
def captures(a):
    match a:
        case [b, c] | [c, b, _] | {"b": b, "c": c}:
            x(b, c)
        case [1, b] | [2, [b]] as c:
            x(b, c)
        case [1 | 2 | None, True | False as d]:
            x(d)


def ends(a):
    match a:
        case 1 | 2:
            return 3


def only(a):
    match a:
        case A.b | A.c.d | -1 | "e" | 1+2j:
            x(1)
    x(2)


def always(a):
    match a:
        case {"b": c} | [c] | c:
            return c
