# depyf-case: versions 3.14-3.14
def leaves_last(a, b):
    with a:
        while True:
            if a() == "x":
                break
        b()


def goes_on(a, b):
    try:
        for x in a:
            if not "x" in x:
                continue
            b(x)
    finally:
        b()
