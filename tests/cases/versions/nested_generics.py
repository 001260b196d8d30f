# depyf-case: versions 3.12-
class C[T]:
    class D[V, *W, **P](T, metaclass=M):
        x = V
        type X[A] = dict[A, T]

        @decorate
        def f[B](self, z: B = 1) -> V:
            return B

    class E[V](V):
        pass

    type Z[Q: T] = list[Q]

    async def g[Q](self, x: Q):
        return super().g(Q)


def outer(x):
    class F[T: (int, str)](Base[T], key=x):
        def f(self):
            return x, T, __class__

    return F


class G[__T]:
    type __A[__U] = __T

    def f[__V](self):
        return __V


def declared():
    global H, h
    type H = int

    def h[T](x: T):
        pass
