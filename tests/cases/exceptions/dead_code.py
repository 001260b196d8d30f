# depyf-case: versions 3.8-3.8
def f():
    try:
        raise a
    except E as e:
        g(e)
    else:
        h()


def handled():
    try:
        g()
    except E as e:
        h(e)
    else:
        return 1


def nested():
    try:
        f()
    except E as e:
        g(e)
    finally:
        h()


def loop():
    while True:
        try:
            x = f()
        except E:
            g()
        else:
            break
    return x
