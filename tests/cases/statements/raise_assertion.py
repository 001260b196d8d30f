if len(a) != 2:
    raise AssertionError(a)
assert b, c


class D:
    if e:
        raise AssertionError
    assert e
