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
