def and_false(items, y):
    return [x for x in items if x or y and False]


def calls(items):
    return [x for x in items if f(x) or g(x) and False]


def two_tests(items, y, z):
    return {x: y for x in items if x or y and z and False}
