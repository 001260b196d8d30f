def and_false(items, y):
    return [x for x in items if x or y and False]


def calls(items):
    return [x for x in items if f(x) or g(x) and False]


def two_tests(items, y, z):
    return {x: y for x in items if x or y and z and False}


def without_elements(c):
    pairs = {a: None for a in c if False}, {None: None for a, b in c if False}
    return pairs, [None for a, b in c if False]
