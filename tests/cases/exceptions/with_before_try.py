def loops_in_try(a, b):
    with a:
        b()
    try:
        while True:
            b()
    except ValueError:
        a()
    return a


def with_in_loop(a, b):
    with a:
        b()
    try:
        while True:
            with a:
                b()
            if b:
                break
    except ValueError:
        a()
    return a


with a:
    b()
try:
    while True:
        with a:
            b()
except ValueError:
    a()
