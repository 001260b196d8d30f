async def f(a):
    await a
    x = await a.b(1)
    async with a as b:
        x(b)
    async with a, b as c:
        x(c)
    async for i in a:
        x(i)
    x(2)
    return await a


async def g(a):
    yield a
    x = yield
    async for i in a:
        if i:
            return
        yield i


async def h(a):
    return [await i async for i in a if await i]
