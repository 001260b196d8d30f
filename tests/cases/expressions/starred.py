def f(a, b, c):
    x = [*a]
    x = [*a, b]
    x = [a, *b, *c]
    x = {*a, b}
    x = {**a}
    x = {**a, "b": b, **c}
    x = {"b": b, **c}
    x = *a, b
