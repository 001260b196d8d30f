# depyf-case: versions 3.11-
def returns(self, x):
    try:
        x()
    finally:
        if self.a:
            if self.b:
                try:
                    self.c()
                except OSError:
                    pass
            self.d = 0
            return
        self.wait()


def never_ends(a, b):
    try:
        yield a
        return b
    finally:
        raise a


def two_values(self):
    try:
        if self.a:
            return self.c(1)
        result = self.b(2)
        return result
    finally:
        self.tries = 0


def returns_out_of_handler(fd):
    try:
        first(fd)
    finally:
        try:
            second(fd)
        except OSError:
            return remove(fd)
