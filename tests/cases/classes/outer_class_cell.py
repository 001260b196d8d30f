class A:
    class B:
        print(__class__)

        def f(self):
            return super().f()


class Alone:
    x = __class__


def g():
    class C:
        class D:
            print(__class__)

    return C
