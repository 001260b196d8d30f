# depyf-case: versions 3.12-
def f(a, b, c):
    x = all(x for x in a)
    y = any(x for x in a if x) or tuple(x for x in b)
    z = f(**{"a": 1}, **b, c=2)
    f(a=1, **{"b": 2})
    f(*a)
    f(*())
    return set(x for x in b), list(y for y in c), sum(x for x in a if False)
