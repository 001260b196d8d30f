# depyf-case: versions 3.15-
def unpack(rows):
    return [*row for row in rows], {*row for row in rows if row}, {**row for row in rows}, (*row for row in rows)


def nested(rows):
    return sum(*cell for row in rows if row for cell in row), [[*cell for cell in row] for row in rows]


async def asynchronous(rows):
    return [*row async for row in rows], {**await row for row in rows}, (*row async for row in rows)


class C:
    type A = [*x for x in y]
    z = {**x for x in y}
