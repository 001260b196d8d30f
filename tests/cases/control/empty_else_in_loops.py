# depyf-case: versions 3.13-3.14
def with_pass(key, x):
    for r in x:
        if key(r):
            yield r
        else:
            pass


def with_continue(key, x):
    for r in x:
        if key(r):
            yield r
        else:
            continue


def two_tests(ws):
    with ws:
        while True:
            data = f()
            if not data or not g(data):
                continue
            h(data)
            y()
