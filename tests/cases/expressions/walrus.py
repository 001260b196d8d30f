def f(a, b):
    if (x := a(b)) is not None:
        print(x)
    while y := a():
        print(y)
    print(z := 5)
    if (n := len(a)) > 10 and (m := b):
        print(n, m)
