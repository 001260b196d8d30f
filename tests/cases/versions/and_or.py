def f(a, b, c):
    x = a and b or c
    y = (a or b) and c
    z = a and "x" or "y"
    return not not a
