class A:
    pass


class B(A):
    x = 1
    y: int = 2
    z: str

    def __init__(self, x):
        super().__init__()
        self.x = x

    def m(self):
        return __class__

    class Inner:
        def f(self):
            pass


class C(A, B, metaclass=M, x=1):
    pass


class D(*bases, **kwargs):
    pass
