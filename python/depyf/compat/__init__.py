"""Every private part of PyTorch and CPython that depyf relies on, in one small module for each area.

The module `names` has a row for each private name, all other code uses private names only through the module `private`,
and the module `probe` checks which names are as expected. No package of depyf outside of `depyf.compat` asks for
PyTorch's version or uses a private name.
"""
