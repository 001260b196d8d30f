# depyf-case: versions 3.14-
def behind_handlers(a, b):
    try:
        a()
        if b:
            return 1
    except ValueError:
        pass
    except TypeError as error:
        b(error)
    return None, ()


def negative(a, b):
    try:
        a()
    except ValueError:
        pass
    except TypeError:
        b()
    return -1
