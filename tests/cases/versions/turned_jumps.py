# depyf-case: versions 3.13-3.14
def g(a, b):
    for x in a:
        yield x
        if b:
            continue
        x()


def h(a, b):
    for x in a:
        yield x
        if not b:
            x()


def turned_around(a, b):
    try:
        for x in a:
            if "x" in x:
                b(x)
        for x in a:
            if x != "":
                if x == b:
                    continue
                b(x)
    finally:
        b()


def ends_the_statement(a, b):
    try:
        a()
        while True:
            done = a() if b else b.c(1)
            if done:
                break
    except KeyboardInterrupt:
        pass
    a(b)
