# depyf-case: versions 3.12-3.13
def middle(a, b, c, d):
    return a and (b and not c) and d


def either(a, b, c, d):
    return a or (b or c) or d


def stored(a, b, c, d):
    x = a and (b and c) and d
    return x


def mixed(a, b, c, d):
    return a and (b or c) and (c and not d) and b


def calls(a, b, c, d):
    return a() and (c() and not d()) and b() is not None


def first(a, b, c, d):
    return (a or b) or c or d


def both(a, b, c, d):
    return (a and b) and (c and d) and a
