# depyf-case: versions 3.12-
def shadowed(T):
    def inner():
        return [lambda: T for T in (T, 1)]

    return inner


def nested[T]():
    def F[U: [lambda: T for T in (T, 1)]]():
        return U

    return F


def captured():
    return [T for T in f(lambda: T)]
