def or_true(items):
    return [k for k in items if k or True]


def and_false(items):
    return [k for k in items if k and False]


def false(items):
    return [k for k in items if False]
