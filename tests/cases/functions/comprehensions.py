def f(a, b):
    x([i for i in a])
    x({i for i in a})
    x({i: j for i, j in a})
    x((i for i in a), b)
    x([i for i in a if i])
    x([i for i in a if i and b])
    x([(i, j) for i in a for j in i])
    x([[j for j in i] for i in a])
    x(i for i in a if i > b)
    x([i for i in a if i and b or i.c])
    x([i if i else b for i in a])
    return sum(i * b for i in a)


y = [z for z in w]
