def f(a, b):
    p(f'{a}x = \'y\' + "S {b}" + "{a}"')
    p(f"{a}x = 'y' + \"S {b}\"")
    p(f'{a} "{b}"')
