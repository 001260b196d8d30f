# depyf-case: versions 3.13-
def two_breaks(a):
    while True:
        a()
        if a.x:
            b()
            while True:
                c()
                if a.y:
                    d()
                    break
                elif not a.z:
                    e()
                    break
        elif not a.z:
            break
    f()
