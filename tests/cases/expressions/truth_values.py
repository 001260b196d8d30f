def truth(a, b):
    x = not not a or b
    return x


def behind(a, b):
    return a and not not b


def between(a, b, c):
    return a and not not b and c
