def f(a, b, c):
    if a:
        x(1)
    if a:
        x(1)
    else:
        x(2)
    if a:
        x(1)
    elif b:
        x(2)
    if a:
        x(1)
    elif b:
        x(2)
    elif c:
        x(3)
    else:
        x(4)
    if a:
        if b:
            x(1)
        else:
            x(2)
    else:
        x(3)
    if a:
        x(1)
        if b:
            x(2)
    return x


if a:
    b = 1
else:
    c = 2
