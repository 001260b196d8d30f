"""Tests depyf.decompile on torch's wrappers of functions."""

from __future__ import annotations

import pytest

import depyf
import torch
from depyf.decompilation import describe
from depyf.decompiler import find_code


def double(x):
    return x * 2


class Module(torch.nn.Module):
    def forward(self, x):
        return x * 2


def test_the_innermost_function_is_found():
    module = Module()
    for thing in (torch.compile(double), torch.compile(torch.compile(double)), torch.compile(backend="eager")(double)):
        assert find_code(thing) is double.__code__
    for thing in (module, torch.compile(module), Module.forward, module.forward, torch.compile(module.forward)):
        assert find_code(thing) is Module.forward.__code__


def test_operators_have_no_code():
    with pytest.raises(TypeError, match="cannot decompile"):
        depyf.decompile(torch.sin)


def test_constants_of_torch_are_named():
    values = (torch.float32, torch.device("cpu"), torch.strided, torch.channels_last)
    assert [describe(value) for value in values] == [repr(value) for value in values]
    assert describe(torch.ones(3)) == "an object of type torch.Tensor"
