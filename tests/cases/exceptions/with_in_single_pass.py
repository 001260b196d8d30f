def f():
    while True:
        with a:
            break
        raise b
    c


def g():
    while True:
        with a as b:
            if c:
                return d
            e
            break
        raise h
    i
    return j
