# depyf-case: versions 3.11-
def raises(a):
    for x in a:
        try:
            y = g(x)
        except E as e:
            if e.p:
                h()
                continue
            raise
    return y


def goes_on(a):
    for x in a:
        try:
            y = g(x)
        except E as e:
            if e.p:
                h()
                continue
            q()
    return y


def elif_and_raise(a):
    for x in a:
        try:
            y = g(x)
        except E as e:
            if e.p:
                h()
                continue
            elif e.q:
                return 3
            raise
    return y


def else_raises(a):
    for x in a:
        try:
            y = g(x)
        except E as e:
            if e.p:
                h()
            else:
                raise
    return y


def break_of_inner_loop(a):
    while a:
        while b():
            try:
                y = g(a)
            except E as e:
                if e.p:
                    break
                z()


def break_and_continue(a):
    for x in a:
        for y in x:
            try:
                y = g(a)
            except E as e:
                if e.p:
                    break
                elif e.q:
                    continue
                z()
            else:
                w()


def continue_of_while(a):
    while True:
        try:
            y = g(a)
        except E as e:
            continue
        t(y)


def three_values(m):
    return "a" if m.x else "b" if m.y else None
