def own_class(self, x):
    AssertionError = self.failureException
    if x is None:
        raise AssertionError("text")
    if not x:
        raise AssertionError
    assert x > 1, "another"
    return x


def own_parameter(x, AssertionError=ValueError):
    if x and x < 1:
        raise AssertionError("text")

    def inner():
        if not x:
            raise AssertionError("text")

    return inner
