def stmt_or(x):
    x in y or g()


def stmt_and(h, e):
    h and h(e)


def h(x):
    x in y or g()
    z()


def s2(a, f):
    for x in a:
        x and f()


def s3(a, f):
    for x in a:
        x or f()
        g()


def s4(a, f):
    if a:
        a or f()
    else:
        a and f()


def s5(a, f):
    while a:
        a and b or f()


def s7(a, f):
    a < f < b and g()


def s8(a, f):
    try:
        a and f()
    except E:
        a or f()
