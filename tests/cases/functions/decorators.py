@a
def f():
    pass


@a.b
@c(1, x=2)
def g(x):
    return x


@a
class C:
    @property
    def x(self):
        return self._x

    @x.setter
    def x(self, value):
        self._x = value

    @staticmethod
    def s():
        pass

    @classmethod
    async def c(cls):
        pass
