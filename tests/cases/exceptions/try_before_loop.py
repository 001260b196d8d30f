# depyf-case: versions 3.11-
def finally_exits(self):
    try:
        foo()
        try:
            while not self.stopped():
                self.wait(1)
        except (KeyboardInterrupt, SystemExit):
            pass
    finally:
        if a:
            b()
        c.exit(0)


def loops(e, i, j):
    while True:
        try:
            if e < a:
                i += 1
            else:
                try:
                    while b[i] == e:
                        i += 1
                finally:
                    j += 1
                    while c[j] == a:
                        j += 1
        except IndexError:
            break
    return i, j


def asserts(a):
    try:
        while a:
            try:
                f()
            except Exception:
                report()
            assert f not in a
    finally:
        g()


def asserts_forever(a):
    while a:
        try:
            f()
        except Exception:
            report()
        assert f not in a
    g()
