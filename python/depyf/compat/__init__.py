"""Every private part of PyTorch and CPython that depyf relies on: one small module an area.

Each part is probed before it is used, and each module says what happens where the part is missing. No other place asks
for a version or touches a private name.
"""
