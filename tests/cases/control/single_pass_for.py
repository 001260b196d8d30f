def at_the_end_of_a_loop():
    while True:
        a if b else c
        for q in d:
            break


def in_the_middle():
    while a:
        b() or c() if d else e
        for q in f:
            if g:
                break
            return
