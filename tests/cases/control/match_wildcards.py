# depyf-case: versions 3.10-
def first(x):
    match x:
        case _ if g:
            y = 1
        case 2:
            y = 2
    return y


def several(x):
    match x if u else v:
        case _ if g or h:
            y = 1
        case 3:
            y = 2
        case _ if k:
            y = 3
        case {"a": 1}:
            y = 4
    return y


def before_default(x):
    match x:
        case 1 if k:
            y = 3
        case _ if g:
            return 3
        case _:
            y = 2
    return y


def in_loops(x):
    for i in x:
        match i:
            case 1:
                y = 1
            case _ if g(i) < 3 < 4:
                break
            case _ if [z for z in y if z]:
                y = 2
            case [a, b]:
                y = 3
        if y:
            break
    while x:
        match x.f(y):
            case _ if y:
                return 3
            case [1, 2]:
                y = 3
    return y
