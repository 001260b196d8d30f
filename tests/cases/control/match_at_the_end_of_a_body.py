# depyf-case: versions 3.10-
def in_with(x):
    with x as y:
        match x:
            case [p, *q]:
                if p:
                    g(p)
            case _:
                pass


def in_try(x):
    try:
        match x:
            case [p, q]:
                while x:
                    g(x)
            case _:
                pass
    except E:
        h()


def with_assert(x):
    with x as y:
        match x:
            case {"a": a}:
                assert a, x
            case _:
                pass


def in_loop(x):
    for i in x:
        with x as y:
            match x:
                case [1, a]:
                    g()
                case [2, b]:
                    if x and y or z:
                        h()
        k()


async def in_async_with(x):
    async with x as y:
        match x:
            case {"a": a}:
                if x:
                    g()
            case _:
                pass
