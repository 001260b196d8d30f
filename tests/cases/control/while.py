def f(a, b):
    while a:
        x(1)
    while a and b:
        x(2)
    while a or b:
        x(3)
    while True:
        x(4)
        if a:
            break
    while a:
        if not b:
            x(5)
    while a:
        if b:
            break
        x(6)
    else:
        x(7)
    while not a:
        x(8)
    while True:
        x(9)
