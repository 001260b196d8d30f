# depyf-case: versions 3.14-
def second_negated(a, b):
    if a in b or not b in a:
        a()
    b()


def first_negated(a, b):
    if not a in b or b in a:
        a()
    else:
        b()
    return a


def both_in_loop(a, b):
    for each in a:
        if each in b or not b in each:
            a()


def one_before_continue(a, b):
    for each in a:
        if each in b and not b in each:
            a()
            continue
        b()


def passes(a, b):
    if a in b:
        pass
    elif b in a:
        a()
    b()


def goes_on(a, b):
    for each in a:
        if each in b:
            continue
        if b in each:
            a()
