# depyf-case: versions 3.11-
from package import (
    first,
    second,
)


def one_each(
    a: first,
    b: int = 3,
    *,
    c: str,
) -> int:
    x = (
        a + b
        and c
    )
    first(
        a,
        b=3,
        c=(4, 5),
    )
    second(
        a, b, [
            1, 2, 3
        ]
    )
    if (
        a and b
        or c
    ):
        return {
            "a": 1,
            "b": first(1),
        }
    assert isinstance(
        x, int
    ), "message"
    return (
        a.filter(1)
        .exclude(2)
        .order_by(
            3
        )
    )


def others(a, names):
    text = """abc
    def
"""
    found = [
        name
        for name in names
        if name
    ]
    z = a.b(
        1
    ).c(2)
    for x in (
        "a",
        "b",
        "c",
    ):
        raise ValueError(
            "the first line of a long message, "
            "and the second one"
        )
    call(text, found,
         z, x)


def short(): ...


def targets(rows):
    (
        first,
        second,
        _,
        _,
    ) = rows[0]
    pairs = [
        (first, second)
        for (
            first,
            second,
            _,
            _,
        ) in rows
    ]
    for (
        third,
        fourth,
    ) in rows:
        first += third + fourth
    return first, pairs


def contexts(manager, names):
    with (
        manager.first(
            names, 1
        ) as value,
        manager.second(),
    ):
        manager.use(value)
    with manager.first(
        1
    ), manager.second(
        2
    ):
        manager.use(names)
    with manager.first(
        1
    ):
        with manager.second(2):
            manager.use(names)


def characters(self):
    self.wordchars += (
        "ßàáâãäåæçèéêëìíîïðñòóôõöøùúûüýþÿ"
        "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞ"
    )
    self.more += (
        "ààààààààààà"
        "aÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞ"
    )


def condition_in_an_or(self, name):
    return (
        self.active
        or (
            name.first
            if name
            else self.last
        )
    )
