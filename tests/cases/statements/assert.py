def f(a, b):
    assert a
    assert not a
    assert a, b
    assert a and b, "both"
    assert a or b
    return a
