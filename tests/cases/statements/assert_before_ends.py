def before_try(self, x):
    assert self.a is not None
    try:
        b = self.a.c(x)
    except AttributeError as e:
        raise ValueError from e
    try:
        return b(x)
    except Exception:
        log(x)
        raise


def before_finally(self, x):
    assert x, "text"
    try:
        return x()
    finally:
        self.close()


def before_a_loop(x):
    assert x
    while True:
        f(x)


def before_a_returning_loop(x):
    assert x
    while True:
        if f(x):
            return x
        for y in x:
            if y:
                break


def before_with(x):
    assert x
    with x:
        return x()
