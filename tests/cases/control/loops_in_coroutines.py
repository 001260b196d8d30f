# depyf-case: versions 3.11-
async def goes_on(a, b):
    while a or b:
        if b:
            a = 1
            continue
        try:
            await a()
        except ValueError:
            break
