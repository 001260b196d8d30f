# depyf-case: versions 3.14-
def bounds(x, n):
    x[8:8 + 4]
    x[8:8+4]
    x[300 + 100:]
    x[997:2 * 997]
    x[1:2:9 + 1]
    x[1:2, 446:446 + 16] = n
    del x[:19 + 1]
    return x[8:12]
