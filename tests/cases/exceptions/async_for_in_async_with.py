async def leaves_two_managers(a, b):
    async with a:
        async with b:
            async for i in a:
                break


async def goes_on_behind(a, b):
    async with a as c:
        async with b as d:
            async for i in c:
                if i:
                    continue
                await i
                break
            else:
                await d
        await a
