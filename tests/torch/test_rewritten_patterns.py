"""Tests of `match` patterns in bytecode that Dynamo rewrote: jumps that compare with None become a comparison and a
jump."""

from __future__ import annotations

import pytest
import torch._inductor.debug  # noqa: F401  (makes the loggers that the fixture looks at)
from torch._dynamo.bytecode_transformation import transform_code_object

import depyf


def of_mapping(table, items):
    match table:
        case {"b": _, **others}:
            return others
        case {"a": first, "c": None}:
            return first
    return items


def of_class(value, log):
    try:
        match value:
            case complex(real=r, imag=0.0):
                log.append(r)
            case slice(start=None, stop=end) if end:
                log.append(end)
            case None:
                log.append(0)
        log.append(1)
    except ValueError:
        log.append(2)


def of_sequence(pair):
    match pair:
        case [None, {"b": [x, *_]}] | [{"b": [x, *_]}, None]:
            return x
        case [None, True | None]:
            return 2
    return 3


@pytest.mark.parametrize("function", [of_mapping, of_class, of_sequence])
def test_patterns_are_recognised_and_proved(function):
    code = transform_code_object(function.__code__, lambda instructions, options: None)
    if isinstance(code, tuple):  # newer releases return (the code, a trace of the rewriting)
        code = code[0]
    source = depyf.decompile(code)
    assert source.startswith("# proved equivalent"), source
    assert source.count("case ") == {of_mapping: 2, of_class: 3, of_sequence: 2}[function], source
    assert "__state" not in source and "match " in source
