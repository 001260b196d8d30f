def else_clause(name):
    for other in h(name):
        make(other)
        break
    else:
        b()
    end()


def else_with_try(pairs, names):
    for w, r in pairs:
        for name in names:
            if w:
                for other in h(name):
                    make(other)
                    break
                else:
                    try:
                        func = get(name)
                    except Exception:
                        pass
                    else:
                        make(func)
                count(r)
    end()


def no_else(names):
    for other in h(names):
        if names:
            return 1
        make(other)
        break
    b()
    c()


def in_while(names):
    while x:
        for other in h(names):
            make(other)
            break
        else:
            c()
        d()


def in_endless(names):
    while True:
        s()
        for other in h(names):
            make(other)
            break
        else:
            c()
        d()


def alone_in_endless(names):
    while True:
        for other in h(names):
            make(other)
            break


def else_with_loop(names):
    while x:
        for other in h(names):
            make(other)
            break
        else:
            for other in y:
                if a:
                    break
            else:
                b()
                continue
            c()
        d()


async def asynchronous(names):
    while x:
        async for other in h(names):
            make(other)
            break
        else:
            c()
        d()


def returns_a_number(a, b):
    if a:
        for x in a:
            if x is not b:
                b(x)
                return 2
            b[x] = a
    for x in b:
        return 3
    return a


def breaks_out_of_try(output):
    output.append(1)
    output.append(2)
    while True:
        try:
            output.append(3)
            if not output:
                break
            output.append(4)
        finally:
            output.append(5)
        output.append(6)
        break
    output.append(7)
