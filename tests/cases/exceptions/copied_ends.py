# depyf-case: versions 3.10-
def with_call(b):
    with a(b) as view:
        with c(view) as data:
            data[0] = read(view)
    return len(b)


def with_store(self, end):
    with a(self):
        if end > 1:
            f()
        else:
            g()
    self.end = True


def break_out(names):
    found = []
    for name in names:
        if name in ("a", "b"):
            break
        try:
            value = names[name]
        except KeyError:
            break
        found.append(value)
    return tuple(found)
