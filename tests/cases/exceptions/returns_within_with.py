# depyf-case: versions 3.11-
def returns_within(a, b):
    with a:
        if b is None:
            for n in a:
                if n is None:
                    a[n] = b
            a.b = b
            return
        for n in a:
            if n is not None and n + 1 == b:
                a[n] = b
        a.b = b
