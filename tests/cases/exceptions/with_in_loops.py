def f(a, b):
    for i in a:
        with i:
            if b:
                break
            x(1)
    for i in a:
        with i:
            if not b:
                x(2)
    while a:
        with b:
            return a
    with a:
        with b:
            x(3)
        x(4)
    x(5)
