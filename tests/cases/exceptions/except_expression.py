# depyf-case: versions 3.11-
def either(x):
    for i in range(10):
        try:
            raise x
        except KeyError or ValueError:
            pass


def chosen(a, x):
    try:
        x()
    except KeyError if a else ValueError as e:
        print(e)
    return a
