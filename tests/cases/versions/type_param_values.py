# depyf-case: versions 3.12-
def bounded[T: "Forward", U: ("One", "Two")](x: T) -> U:
    return x


class Bounded[T: "Forward"](Base[[y for y in "bases"]], key={y: [lambda: (y, T)] for y in ()}):
    pass


class Private[__T: int]:
    def method[__U: __T](self, x: __U) -> __T:
        return x


type Text[T: "Forward"] = "value"
type Either[T] = x | T or "value"


def annotated[T](x: T):
    if False:
        T
    y = x
    return y
