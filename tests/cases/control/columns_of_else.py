# depyf-case: versions 3.11-
def else_of_try(x):
    try:
        a = list(x)
    except NotImplementedError:
        return None
    else:
        b = [y.z() for y in a]
        if a != b:
            raise ValueError()
        return b


def failing_branch(c, x):
    if x is False:
        assert False, "assertion failed"
    return None


def break_in_front_of_else_that_raises(x):
    for c in x.y:
        if isinstance(c, C):
            assert c.t is x
            break
    else:
        assert False
    a, b = x.z
    g(a)
    return b


def break_or_raise(x):
    for c in x.y:
        if c:
            if c.t:
                break
            raise B
    else:
        raise A
    a, b = x.z
    return b


def displays_in_argument(c, t):
    if t:
        h()
    eq_(
        c.execute(t),
        (
            [(1, "d1"), (2, "d2_new"), (3, "d3")]
            if c.rows
            else [(1, "d1"), (2, "d2"), (3, "d3")]
        ),
    )
