# depyf-case: versions 3.11-
def after_loop(x, y, z):
    for k in x:
        if k:
            y = tuple(y)
            break
    else:
        y = z
    return y


def after_branches(self, response):
    if response.will_close:
        self.close()
    elif response.done:
        self.done = True
    else:
        self.response = response
    return response


def while_with_break(self, size, found):
    while size < 0 or len(found) < size:
        b = self.read()
        if not b:
            break
        found += b
        if found.endswith(b"\n"):
            break
    return found


def none(a, b):
    return b if a else None


def none_first(a, b):
    return None if a else b
