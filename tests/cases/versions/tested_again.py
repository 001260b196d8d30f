# depyf-case: versions 3.12-3.13
def b1(a, b, c):
    x = (a or b) or c
    return x


def b2(a, b, c):
    x = (a and b) and c
    return x


def b5(a, b, c):
    return (a or b) or c


def b7(a, b, c):
    f((a or b) or c, (a and b) and c)
