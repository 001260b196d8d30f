def until_exhausted():
    while True:
        for i in p:
            if i:
                break
        else:
            if s:
                break
    for i in p:
        z()


def until_found():
    with p as m:
        while True:
            for i in m:
                if i:
                    break
            else:
                if s:
                    return 1
            t()
    z()


def for_ever():
    while True:
        for i in p:
            if i:
                break
        else:
            if s:
                return 1
            y()
