a = lambda: 1
b = lambda x: x
c = lambda x, y=1, *args, z, w=2, **kwargs: (x, y, args, z, w, kwargs)
d = lambda x, /, y: x + y
e = lambda x: lambda y: x + y
f(lambda: None, key=lambda x: x[0])
g = (lambda: 1)()
h = lambda x: x if x else None
