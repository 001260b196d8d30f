def f(a, b):
    del a
    del b.x
    del b[0]
    del b[1:2]
    del b


del x
del y.z
