def f():
    global a, b
    a = 1
    b = a

    def g():
        nonlocal c
        c = 2
        return c

    c = 3
    return g


def h():
    global x
    del x
