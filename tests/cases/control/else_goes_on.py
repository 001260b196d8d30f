def once(a):
    for i in a:
        for j in i:
            if j:
                break
        else:
            f()
            continue
        g()


def returns(a):
    for i in a:
        for j in i:
            if i > j:
                break
            yield i, j
        else:
            if i:
                return
            yield i
            continue
        yield j


def around_while(a):
    while a:
        for b in a:
            if b:
                break
            i()
        else:
            j()
            continue
        k()
