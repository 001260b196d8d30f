def f(a, b, c):
    _, _, _ = a(), b(), c()
    _, _ = a(), b()
    x, _, _ = a(), b(), c()
    _, _, x = a(), b(), c()
    _, x, _ = a(), b(), c()
    x, x, _ = a(), b(), c()
    a()
    x = b()
    c()
    return _, x
