# depyf-case: versions 3.14-
class Outer:
    a: int

    class Inner:
        if T:
            p: int
        q: str


class Around:
    class Inner:
        if T:
            p: int


class AroundFunction:
    def f(self):
        class Inner:
            if T:
                p: int

        return Inner


class Both:
    if T:
        a: int

    class Inner:
        if T:
            p: int

    class Plain:
        q: int


def function():
    class A:
        class B:
            class C:
                if T:
                    p: int
