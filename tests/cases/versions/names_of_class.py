# depyf-case: versions 3.12-
def f():
    T = 1

    class X:
        T = int

        def foo[U: T](self):
            pass

    return X, T
