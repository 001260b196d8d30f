def first(f):
    try:
        a()
    finally:
        while f.y:
            g()


def behind_handlers(f):
    try:
        a()
    except E:
        c()
    finally:
        while f.y:
            g()
    z()


def in_loop(f):
    while True:
        try:
            a()
        finally:
            while f.y:
                g()
            d()
