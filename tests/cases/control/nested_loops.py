def f(a, b, c):
    for i in a:
        while b:
            if c:
                x(1)
            else:
                x(2)
                break
        x(3)
    while a:
        for i in b:
            if i:
                return i
        while c:
            x(4)
            if not b:
                x(5)
    x(6)


def breaks_out_of_else(a, b):
    while True:
        for x in a:
            if x:
                b(x)
                break
        else:
            break
        if b:
            break
        b(a)
    a(b)


def breaks_out_of_else_and_goes_on(a, b):
    while a:
        for x in a:
            b(x)
            if x:
                break
        else:
            break
        if x is not b:
            continue
        break
    b(2)
