class Tries:
    try:
        x = f()
    except E:
        x = None


class Outer:
    if a:
        if b:
            f()
        else:
            x = 1
    elif c:
        raise E
    else:
        raise F


if a:
    x = 1
    if b:
        f()
else:
    raise ImportError(1)
