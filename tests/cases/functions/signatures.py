def a():
    pass


def b(x, y=1, *args, z, w=2, **kwargs):
    pass


def c(x, /, y, *, z):
    pass


def d(x=1, /, y=2):
    pass


def e(*, x):
    pass


def f(*args, **kwargs):
    pass


def g(x: int, y: "str" = "a", *args: z, w: list[int] = None, **kwargs: dict) -> None:
    pass
