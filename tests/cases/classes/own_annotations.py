class A:
    __annotations__["a"] = 1


class B(type):
    __annotations__["123"] = 123
    __annotations__["class"] = 4
    x: int = 5
