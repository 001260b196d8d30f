def f(a, b):
    for i in a:
        x(i)
    for i in a:
        if not i:
            x(i)
    for i in a:
        if i:
            break
        x(i)
    else:
        x(1)
    for i in a:
        for j in b:
            if j:
                break
            x(j)
        else:
            continue
        break
    for a.x in b:
        pass
    for a[0] in b:
        pass
    for i in a:
        if i:
            return i
    return b
