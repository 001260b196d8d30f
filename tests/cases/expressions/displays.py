def f(a, b, c):
    x = ()
    x = (a,)
    x = a, b
    x = []
    x = [a]
    x = [a, b]
    x = {a}
    x = {a, b}
    x = {}
    x = {a: b}
    x = {a: b, "c": c}
    x = {"a": a, "b": b}
    x = [1, 2, 3]
    x = 1, 2, 3
    x = {1, 2, 3}
    x = {1, 2, 2}
    return [(a, b), [c, (a,)], {a: [b, {c}]}]
