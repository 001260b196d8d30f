# depyf-case: versions 3.8-3.8
def else_leaves_loop(s):
    while True:
        try:
            s = g()
        except E:
            if p == s:
                return s
        else:
            return j(s)


def else_breaks():
    while True:
        try:
            st = a()
        except E:
            if b:
                raise F
            c()
        else:
            if not d:
                break
            raise G
    rest()


def break_in_all():
    while True:
        try:
            data = recv()
            if not data:
                break
            process(data)
        except E:
            pass
        except F:
            break


def continue_behind(objects):
    for obj in objects:
        try:
            src = build[obj]
        except E:
            continue
        if a in src:
            b()
        elif c in src:
            try:
                x()
            except F as msg:
                raise G(msg)
            continue
        y()
    return objects


def else_break_of_else(modnames):
    for m in modnames:
        if not m:
            continue
        try:
            mod = g()
        except E:
            continue
        break
    else:
        mod = None
    return mod


def handler_raises(key):
    try:
        f = open(key)
    except E as e:
        if e.errno:
            raise F(key)
        raise
    else:
        f.close()
        a.remove(key)


def else_in_if(a):
    if a:
        try:
            m = b()
        except E as e:
            return 1
        else:
            m = f()
            return m
    else:
        return 3
