def send(f, x, y):
    return f(z=x or y, a=y, b=y, c=y, d=y, e=y, f=y, g=y, h=y, i=y, j=y, k=y, l=y, m=y, n=y, o=y)


def ask(f, x, y):
    return f(x or (y if f else None), y)
