from __future__ import annotations


def f(a: b, c: list[d] = 1) -> e:
    x = 1
    return x


class C:
    x: y = 1
    z: 'w'
