from __future__ import annotations


class C:
    x: int
    __annotations__["v"] = 5
    __annotations__["w"] = x
