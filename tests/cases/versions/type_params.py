# depyf-case: versions 3.12-
type A = int
type B[T] = list[T]
type C[T: int, *Ts, **P] = tuple[T, *Ts]


def f[T](x, y=1, *, z=2):
    return x


@d
class E[T: (int, str)](F, metaclass=G):
    x = 1

    def m[U: T](self, x):
        return [x for x in self]
