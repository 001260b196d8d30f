# depyf-case: versions 3.11-
def equal_values(s):
    return (
        (p[s] if s in p else s)
        if i(s)
        else s
    )


def equal_values_of_else(s):
    return (
        s
        if i(s)
        else p[s] if s in p else s
    )
