def last(args):
    for name in args:
        try:
            decode(name)
        finally:
            if name != "-":
                name.close()
    if done:
        leave()


def none(args):
    for name in args:
        f()
        try:
            decode(name)
        finally:
            if name is not None:
                name.close()
