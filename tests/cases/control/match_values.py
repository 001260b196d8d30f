# depyf-case: versions 3.10-
def f(a):
    match a:
        case 1:
            x(1)
        case "a" | "b":
            x(2)
        case None:
            x(3)
        case True:
            x(4)
        case -1.5:
            x(5)
        case y.z:
            x(6)
        case _:
            x(7)


def spelled(x):
    """An expression of the same width is no pattern."""
    match x:
        case 0x00FFFFF | "b":
            return 1
        case 4_294_967_296:
            return 2
        case {0x000FFFF: y, -0x00FFFFF: z}:
            return y + z
        case -0x00FFFFF:
            return 4
