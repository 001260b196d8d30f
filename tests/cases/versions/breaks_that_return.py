# depyf-case: versions 3.12-
def search():
    while True:
        if a:
            while b:
                if c:
                    break
                if d:
                    e()
                    break
            else:
                continue
        break


def enters():
    with open(f) as g:
        while a():
            if b():
                with c():
                    continue
                e()
            d()
            break
        else:
            return h
