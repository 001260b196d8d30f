async def displays(a):
    x = await {i: i for i in a}
    return await [i for i in a], x


async def coroutines(a):
    x = [i async for i in a]
    y = [await i for i in a]
    return x, y, {i: i async for i in a}


async def twice(a):
    return await [i async for i in a]
