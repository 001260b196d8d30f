def first(a, b, c):
    while True:
        assert a()
        while b():
            assert c()


def second(a, v):
    while True:
        assert a()
        for x in v:
            return x


def third(a, n, t, x):
    while a() and n():
        if not x():
            continue
        if t():
            break
    y = -2
    return y
