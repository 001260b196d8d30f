"""Every private part of PyTorch and CPython that depyf relies on, in one small module for each area.

`names` has a row for each private name, `private` is the only way to use a name, and `probe` finds out which names are
as expected. No other package of depyf asks for PyTorch's version or uses a private name.
"""
