# depyf-case: versions 3.14-
x: int
y: list[int] = []


def f(a: int, b: list[int] = 3, *args: A, c: B = 1, **kwargs: C) -> R:
    d = a
    return d


if x:
    z: str = "a"
if False:
    never: int


class Alone(f):
    x: int


class NeverReached:
    """A class."""

    if False:
        x: int
    y = 1


class OfAttributes:
    f.a = 1
    (_): None


class D:
    """A class."""

    a: int
    b: D = 1
    c = 2

    def m(self, x: a) -> a:
        pass

    if a:
        d: T = 3
    e: dict[a, "b"]


class E[T](D):
    a: T

    def m[U](self, x: U) -> T:
        return x


def g[T: int, *Ts, **P](x: T, *args: *Ts, **kwargs: P.kwargs) -> T:
    return lambda: x


def outer():
    def local[T](x: T) -> T:
        return x

    return local
