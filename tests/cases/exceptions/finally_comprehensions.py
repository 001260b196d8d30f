def fin(fs):
    try:
        yield fs
    finally:
        new = sorted([m for m in fs if m not in pre], key=lambda m: m.num)
        fs[:] = [m.f for m in new]


def t5(fs):
    try:
        return [f.x for f in fs]
    finally:
        g([f.y for f in fs])


def t6(fs):
    for x in fs:
        try:
            h(x)
        finally:
            y = {k: v for k, v in x if k}
    return y
