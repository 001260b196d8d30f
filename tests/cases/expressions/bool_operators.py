def f(a, b, c, d):
    x(a and b)
    x(a or b)
    x(a and b and c)
    x(a or b or c)
    x(a and b or c)
    x(a or b and c)
    x((a or b) and c)
    x((a or b) and (c or d))
    x(a and b or c and d)
    x(not (a and b))
    y = a or b
    return a and (b or c)
