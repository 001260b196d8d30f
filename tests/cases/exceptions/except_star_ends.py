# depyf-case: versions 3.11-
def ends_with(a):
    with a:
        try:
            x(1)
        except* ValueError:
            x(2)


def nested(a):
    try:
        x(1)
    except* ValueError as e:
        try:
            x(e)
        except* TypeError:
            if a:
                x(2)
        x(3)
    finally:
        x(4)
    return a


def in_loop(a):
    for b in a:
        try:
            x(b)
        except* ValueError:
            for c in b:
                if c:
                    break
        x(2)
