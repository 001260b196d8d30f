def f(a):
    class C(a):
        x = a

        def m(self):
            return a

    return C


def g():
    class D:
        def m(self):
            return super().m()

    return D()
