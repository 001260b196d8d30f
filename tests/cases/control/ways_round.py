# depyf-case: versions 3.12-
def continues(it):
    for fn in it:
        name = h(fn[0])
        if name == "__init__":
            continue
        if name and "." not in name:
            yield name


def with_last(a):
    try:
        for info in a:
            g(info)
            if not info.endswith("/"):
                with a.open(info) as source:
                    copy(source)
    finally:
        a.close()


def handler_goes_on(stack):
    while stack:
        try:
            it = scan(stack)
        except OSError as error:
            if report is not None:
                report(error)
            continue
        found = False
        with it:
            g()
        if found:
            continue
        if first:
            yield it
            for name in it:
                if follow or not link(name):
                    stack.append(name)
        else:
            stack.append(it)


def leaves_first(a):
    try:
        if a:
            while True:
                b()
                if not a:
                    return
                f = a.pop()
                try:
                    f()
                except Exception:
                    report()
                assert f not in a
    finally:
        g()
