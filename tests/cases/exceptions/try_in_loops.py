def f(a):
    for i in a:
        try:
            x(i)
        except ValueError:
            continue
        except KeyError:
            break
        x(2)
    while a:
        try:
            if x(1):
                break
        finally:
            x(3)
    for i in a:
        try:
            x(i)
        except ValueError as e:
            return e
    return a
