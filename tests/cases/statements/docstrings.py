"""The module."""


def f():
    """One line."""


def g():
    """Two

    lines.
    """
    return 1


class C:
    """A class."""

    x = 1
