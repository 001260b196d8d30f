def not_async(n):
    return (i * 2 async for i in arange(n))


async def in_async(n):
    x = {i async for i in n}
    y = {i: j async for i, j in await n}
    z = (i for j in n async for i in j)
    return [i async for i in arange(n)], (i async for i in await n)
