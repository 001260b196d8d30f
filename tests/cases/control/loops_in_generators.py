def yields(a, b):
    while a or b:
        yield a()


def yields_within_try(a, b):
    while a is None or b:
        try:
            yield a()
        except ValueError:
            break
    a()


async def has_groups(a, b, c):
    while (a or b) and c:
        await a()
    while a and (b or c):
        await a()
