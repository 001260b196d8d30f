def retries():
    while True:
        if a():
            x()
        elif b():
            break
        elif c():
            continue
        d()
        break
    e()


def retries_later():
    while True:
        if a():
            x()
        elif b():
            y()
            break
        elif c():
            continue
        d()
        break
    e()


def tests_in_if():
    while True:
        if a():
            if b():
                break
            if c():
                continue
        d()
        break
    e()
