# depyf-case: versions 3.13-
class Global:
    global __firstlineno__
    x = 1


def f():
    __firstlineno__ = 1
    __static_attributes__ = 2

    class Nonlocal:
        nonlocal __firstlineno__, __static_attributes__
        x = 1

        def g(self):
            self.b = self.a = 1

    return Nonlocal, __firstlineno__, __static_attributes__
