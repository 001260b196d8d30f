# depyf-case: versions 3.12-
async def f(a, b):
    x = [x for x in a]
    y = {x: y for x, y in a if x and not y}
    z = [[x for x in y] for y in b]
    for i in [x for x in a]:
        print({i for i in b})
    return [lambda: x for x in a], [y async for y in b] if b else None


class C:
    x = [y for y in z]
    y = [x for x in x if x]


v = [w for w in v]
