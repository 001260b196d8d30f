a, b = c
a, (b, c) = d
a, *b = c
*a, b = c
(a,) = b
a, b = b, a
a, b, c = c, b, a
a.x, b[0] = c
a, (b, c) = d, e
(a, b), c = f(), g()
a.x, (b, *c[0]) = f(), d
for i, (j, k) in x:
    f(i)
