def leaves_both_loops(a, b, c):
    while a:
        b()
        if c:
            c.append(1)
        else:
            while b:
                if c():
                    if a is not b:
                        a()
                    c.append(2)
                    break
                del b[-1]
            else:
                if a():
                    c[-1] = a
                    break
                c.append(3)
                break
            break
    return c
