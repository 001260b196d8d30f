def value(c, d, y):
    if c < d:
        x = 1
    else:
        return 5
    while y:
        y(x)
    return x


def error(c, d, y):
    if c < d:
        x = 1
    else:
        raise E
    while y:
        y(x)
    return x


def statements(c, d, n, y):
    if c < d:
        x = 1
    else:
        d()
        return n()
    while y:
        y(x)
    return x


def chain(c, d, n, y):
    if c < d:
        x = 1
    elif n:
        x = 2
    else:
        d()
        return n()
    while y:
        y(x)
    return x


def nothing(c, d, y):
    if c < d:
        x = 1
    else:
        return None
    while y:
        y(x)
    return x


def handled(c, d, n):
    if c:
        x = 1
    else:
        return None
    try:
        n(x)
    except d:
        return 3
    return x


def found(c, d):
    if c:
        c()
    else:
        return False
    for y in d:
        if y:
            return False
    return True
