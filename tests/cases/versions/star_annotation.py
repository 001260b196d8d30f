# depyf-case: versions 3.12-
def f[*Ts](*args: *Ts):
    pass


def g[T, *Ts](x: T, *args: *Ts, key: T = None) -> tuple[*Ts]:
    return args
