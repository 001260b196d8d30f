# depyf-case: versions 3.8-3.8
def f(self):
    n = 0
    while True:
        try:
            g()
        except OSError as ex:
            if ex.errno == 1:
                n += 1
                h(n)
                continue
            else:
                raise
        else:
            break
    k()


def f2(self):
    n = 0
    while True:
        try:
            g()
        except OSError as ex:
            if ex.errno == 1:
                n += 1
                continue
            raise
        else:
            break
    k()
