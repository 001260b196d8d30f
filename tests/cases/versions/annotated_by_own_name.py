# depyf-case: versions 3.14-
def f():
    class C:
        pass

    class D:
        C: C = field()
