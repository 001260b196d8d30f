def f(x):
    for x in x:
        try:
            h(x)
        except OSError:
            pass
        finally:
            g = lambda y=1: 1


def g(x):
    try:
        if x:
            return h()
    finally:
        def k(a, b=(1, 2), *, c="c"):
            return a

        k(x)
