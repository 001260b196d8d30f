"""Functions of many kinds, compiled or not."""

import functools

import torch


def passes_on(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        print("the wrapper")
        return function(*args, **kwargs)

    return wrapper


def passes_one(function):
    @functools.wraps(function)
    def wrapper(x):
        return function(x) + 1

    return wrapper


@passes_on
def wrapped(x):
    return x * 2


@passes_one
def wrapped_again(x):
    return x * 3


class Outer:
    class LM(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.head = torch.nn.Linear(2, 2)

        def forward(self, x):
            for _ in range(2):
                print("in a loop")
            return self.head(x)

    class Base(torch.nn.Module):
        def forward(self, x):
            return x * 4

    class Sub(Base):
        pass

    @staticmethod
    def static(x):
        print("static")
        return x + 1

    @passes_on
    def method(self, x):
        return x + 2


def scaled_by(scale):
    def scale_it(x):
        return x * scale

    return scale_it


x = torch.ones(2)
for function in (
    Outer.LM(),
    Outer.Sub(),
    Outer.static,
    Outer().method,
    wrapped,
    wrapped_again,
    scaled_by(3),
    lambda x: x - 1,
    functools.partial(Outer().method),
):
    torch.compile(function, backend="eager")(x)
