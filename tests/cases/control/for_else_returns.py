def returns(args):
    for arg in args:
        if arg.x:
            t = arg.split()
            break
    else:
        return None
    if t is None:
        u = 1
    else:
        u = 2
    return t, u


def returns_a_value(args):
    for arg in args:
        if arg.x:
            t = arg.split()
            break
    else:
        return 5
    t()
    h()


def raises(args):
    for arg in args:
        if arg.x:
            t = arg.split()
            break
    else:
        raise E
    t()
    h()


def does_something(args):
    for arg in args:
        if arg.x:
            t = arg.split()
            break
    else:
        q()
        return
    t()
    h()
