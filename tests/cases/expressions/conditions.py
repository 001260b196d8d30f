def f(a, b, c, d):
    if a and b:
        x(1)
    if a or b:
        x(2)
    if a and (b or c):
        x(3)
    if a and b or c and d:
        x(4)
    if (a or b) and (c or d):
        x(5)
    if not a:
        x(6)
    if a is None or b is not None:
        x(8)
    if a and not b:
        x(9)
    if a if b else c:
        x(10)
