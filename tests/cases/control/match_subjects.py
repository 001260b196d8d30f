# depyf-case: versions 3.10-
def m1(c):
    match y := c:
        case 1 | 2:
            g(y)


def m2(c):
    match y := c():
        case [p, q]:
            g(y)
        case {"k": p}:
            h()


def m3(x, b, y):
    match x and b:
        case f.E if y:
            g(y)
        case [p, q]:
            h()


def m15(c):
    match x := (y := c):
        case [y, z]:
            g(y)
        case 1:
            g(y)


def m16(c):
    match x := c.d():
        case None:
            g(x)
        case A():
            g(y)


def captured(c):
    match c.d():
        case x if x > 3:
            g(x)
        case y if w := y:
            g(w)


def displays_of_many_items(a):
    match [1, 2, 3]:
        case [_, _, _]:
            a()
    match [a, 2, *a]:
        case [_, _]:
            a()
        case _:
            a(1)
