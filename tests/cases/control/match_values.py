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
