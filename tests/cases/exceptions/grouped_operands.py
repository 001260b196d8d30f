# depyf-case: versions 3.14-3.14
def within_try(x, y, z):
    try:
        found = (x or y) or z
        use(found)
    except ValueError as e:
        report(e)


def behind_a_branch(x, y, strict):
    with strict:
        if strict:
            found = x.shape == y.shape and x.dtype == y.dtype
        else:
            found = (x.shape == () or y.shape == ()) or x.shape == y.shape
        if not found:
            raise TypeError
