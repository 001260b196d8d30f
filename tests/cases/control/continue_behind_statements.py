# depyf-case: versions 3.8-3.8
def behind_with(tests, a, b, c, d, o):
    for t in tests:
        with a:
            if o == 1:
                with b:
                    c()
                continue
            d()


def behind_try(tests, a, c, d, o):
    while tests:
        with a:
            if o == 1:
                try:
                    c()
                except E:
                    d()
                continue
            d()
    g()


def behind_loop(tests, a, y, c, d, o):
    while tests:
        with a:
            if o == 1:
                for x in y:
                    c()
                continue
            d()
    g()


def in_handler(now):
    for e in now:
        try:
            result = strftime(e)
        except ValueError as result:
            if verbose:
                print(result)
            continue
        k(result)


def else_breaks_in_with(a, b, c, k):
    while True:
        with a:
            try:
                b()
            except OSError:
                k()
            else:
                break
        e()
    with c:
        k()


def else_breaks_behind_with(a, b, stop):
    while True:
        with a as files:
            try:
                with b as f:
                    f.write("data2")
            except OSError:
                stop += 1
            else:
                break
            finally:
                files = None
        e()
    g()
