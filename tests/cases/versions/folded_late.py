# depyf-case: versions 3.14-
def behind(self):
    if x:
        try:
            parse()
        finally:
            y()
        return -1
    return g()


def within(self):
    for x in y:
        with x:
            parse()
            return 1, 2
