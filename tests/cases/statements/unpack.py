a, b = c
a, (b, c) = d
a, *b = c
*a, b = c
a, = b
a, b = b, a
a, b, c = c, b, a
a.x, b[0] = c
for i, (j, k) in x:
    f(i)
