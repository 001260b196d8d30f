def f(a):
    for i in a:
        try:
            x(i)
        except ValueError:
            pass
        except KeyError:
            break
        else:
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
