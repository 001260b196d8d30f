def breaks(xs):
    for x in xs:
        try:
            yield x
        finally:
            if x:
                break
            done(x)
    yield 0


def continues(xs):
    while xs:
        try:
            yield xs
        except ValueError:
            pass
        finally:
            if not xs:
                continue
            xs.pop()
        use(xs)


def both(xs):
    for x in xs:
        try:
            y = yield x
        except E as e:
            log(e)
        else:
            use(y)
        finally:
            if x:
                f()
                continue
            z(x)
            if y:
                break
            h()
    yield 0


def two_loops(xs):
    for x in xs:
        for y in x:
            try:
                g(y)
            finally:
                if y:
                    break
                h(y)
        h(x)


def nested(xs):
    for x in xs:
        try:
            try:
                g(x)
            finally:
                if x:
                    break
        finally:
            h(x)
    yield 0


def returns(xs):
    for x in xs:
        try:
            if x:
                return g(x)
        finally:
            if h(x):
                break
            z(x)
    k(1)
