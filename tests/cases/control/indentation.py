# depyf-case: versions 3.11-
def else_or_not(a, b):
    if a:
        return 1
    else:
        b()
    if b:
        return 2
    b()
    if a is b:
        raise a
    elif a:
        return b
    else:
        return a


def nested(a, b, c):
    if a:
        if b:
            c()
    if a and b:
        c()
    if a or b:
        if c and a:
            b()


def guards(a):
    for b in a:
        if b:
            continue
        b()
    for b in a:
        if not b:
            b()
    for b in a:
        try:
            b()
        except ValueError:
            continue
        a(b)
    for b in a:
        try:
            b()
        except ValueError:
            pass
        else:
            a(b)
    while a:
        if a():
            break
        a.b()


def returns(a):
    if a:
        a()
        return
    elif a.b:
        return None
    if not a:
        return 1
    try:
        a()
    except ValueError:
        pass


def negations(a, b):
    if not (a and b):
        a()
    if not a or not b:
        b()
    if a is None and not b:
        a()
    assert a in b
    return a
