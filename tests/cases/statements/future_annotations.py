from __future__ import annotations


def f(a: b, c: list[d] = 1) -> e:
    x = 1
    return x


def g(a: Annotated[str, Field(pattern='^\\d+$')], b: Literal['#'], c: T['a\n']) -> b'\xff':
    pass


def h(a: f'{b}1', c: f'{d!r:>{e}}' = 1, *, i: f"{x['y']}{{}}" = 2) -> f'{ {1}}':
    pass


class C:
    x: y = 1
    z: 'w'
    v: Literal["it's"]
    t: Literal['(']
    u: Annotated[str, Field(pattern='^\\d+$')] = 2
