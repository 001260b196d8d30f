# depyf-case: versions 3.11-
def call(f, a, b):
    return f(h=a(b) or "" if b is None else b, d=a)


def display(a, b):
    return [a(b) and "" if b else b, a]
