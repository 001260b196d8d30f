x = 1
y = x
a = b = c
a.b = x
a[x] = y
a.b.c[x].d = y
x: int = 1
y: str
