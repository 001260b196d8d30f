# depyf-case: versions 3.10-
def returns(x):
    try:
        if x:
            return 1
    except B:
        return 2
    finally:
        if z:
            c()
        else:
            d()


def nested(a):
    try:
        f()
    except C as c:
        with c:
            return 2
    finally:
        try:
            i()
        finally:
            j()


def two_loops(x):
    try:
        with x:
            if a:
                t = b
                for i in c:
                    d(i)
            else:
                for i in c:
                    e(i)
    except V as e:
        raise S(e)
