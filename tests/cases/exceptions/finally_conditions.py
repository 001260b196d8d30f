def at_the_end(a, b, c):
    try:
        a()
    finally:
        if a() or b and c:
            b()


def around_try(a, b, c):
    try:
        a()
    finally:
        if a() or b and c:
            try:
                b()
            except ValueError:
                c()


def around_code(a, b, c):
    try:
        a()
    finally:
        if a() and (b or c):
            for each in a:
                b(each)
            c()
