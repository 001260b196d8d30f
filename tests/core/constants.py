# Constants that the standard library has hardly any of.
INTEGERS = [0, 1, -1, 255, 32767, 32768, -32769, 2**31 - 1, 2147483648, -2147483649, 9223372036854775807,
            -9223372036854775808, 18446744073709551615, 18446744073709551616, -18446744073709551617,
            0x123456789abcdef0123456789abcdef, -0xffffffffffffffffffffffffffffffff, 10**40]
FLOATS = [0.0, -0.0, 1.5, 1e308, 5e-324, 1e999, -1e999, 0.1, 1e999 - 1e999, 3.141592653589793]
COMPLEX = [1j, -0j, 1.5 + 2.25j, 1e999j]
STRINGS = ["", "a", "é", "\xff", "Ω", "\ud800", "a\udfffb", "\U0001f600", "\0", "'\"\\\n", "not an identifier", "x" * 300, "ü" * 300]
BYTES = [b"", b"a", b"\x00\xff\"\\", b"x" * 300]
TUPLES = [(), (1,), (1, (2, (3, (4.5, "x", b"y", None, True, False, ...)))), tuple([1] * 3)]
WIDE = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9) * 27 if False else (None, True, None, False)
SLICES = [STRINGS[1:2], STRINGS[::-1], STRINGS[1:], STRINGS[None:None:2]]


def sets(x):
    return x in {1} or x in {"a"} or x in {b"a"} or x in {(1, 2)} or x in {None} or x in {1.5, "b", 7}


def cells(a, b, /, c=1, *args, d, e=2, **kwargs):
    def inner():
        nonlocal a
        a = b = c
        return args, d, kwargs

    class Inside:
        value = e
        method = lambda self: (__class__, self)

    return inner, Inside, [a for x in args if x for y in x]


async def asynchronous(x):
    async with x as y:
        async for z in y:
            yield [await w async for w in z]
    try:
        pass
    except ValueError:
        raise
    finally:
        print(x)
