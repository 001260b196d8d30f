"""Every private part of PyTorch and CPython that depyf relies on: one small module an area.

`names` has a row for each private name, `private` is the one way to use a name, and `probe` finds out which names are
as expected. No other place asks for a version or touches a private name.
"""
