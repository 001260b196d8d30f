# depyf-case: versions 3.9-
def arguments(f, x, y, z):
    f(*(x, y, z))
    f(*(x, y), k=z)
    f(*(x, y), z)
    f(*(x, y), *z)
    f(*[x, y])
    return f(x, **{"k": y})
