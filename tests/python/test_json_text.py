"""Compares JSON that has a line for each item down to some level with Python's json module."""

from __future__ import annotations

import dataclasses
import json
import random
from typing import Any

import pytest

from depyf import _core

CHARACTERS = 'A "\\\n\r\t\b\f\0\x7f\x85é\u2028\ud800\uffff\U0001f600~'


LONG = 180


def expected(data, levels):
    if not levels or not data or not isinstance(data, (dict, list)):
        return json.dumps(data, sort_keys=True)
    if isinstance(data, list):
        return "[\n" + ",\n".join(expected(one, levels - 1) for one in data) + "\n]"
    items = (f"{json.dumps(key)}: {expected(data[key], levels - 1)}" for key in sorted(data))
    return "{\n" + ",\n".join(items) + "\n}"


def made(chance, depth):
    kind = chance.randrange(9 if depth else 6)
    if kind == 0:
        return chance.choice([None, True, False])
    if kind == 1:
        return chance.choice([0, -5, 10**30, 2**63])
    if kind == 2:
        return chance.choice([0.1, 1e300, -2.0, 1e-7, float("inf"), float("-inf")])
    if kind < 6:
        return "".join(chance.choices(CHARACTERS, k=chance.randrange(6)))
    if kind == 6:
        return tuple(made(chance, depth - 1) for _ in range(chance.randrange(3)))
    if kind == 7:
        return [made(chance, depth - 1) for _ in range(chance.randrange(4))]
    return {f"{chance.choice(CHARACTERS)}{i}": made(chance, depth - 1) for i in range(chance.randrange(4))}


def test_it_is_what_pythons_module_writes():
    chance = random.Random(3)
    for _ in range(5000):
        data, levels = made(chance, 5), chance.randrange(7)
        text, plain = _core.json_text(data, levels), expected(data, levels)
        if max(map(len, plain.splitlines())) > LONG:  # lines that are longer than LONG are broken between items
            text, plain = text.replace("\n", " "), plain.replace("\n", " ")
        assert text == plain
    assert _core.json_text(float("nan"), 1) == "NaN"


def test_items_below_the_last_level_share_lines_that_are_not_too_long():
    data = [
        {"lines": {f"node_{i}, ": i for i in range(300)}, "nested": [[str(i)] * 5 for i in range(60)]},
        ["x" * 300] * 2,
    ]
    text = _core.json_text(data, 1)
    assert text.replace(",\n", ", ").replace("[\n", "[").replace("\n]", "]") == json.dumps(data, sort_keys=True)
    lines = text.splitlines()
    assert max(len(line) for line in lines if "xxx" not in line) <= 200 and 40 < len(lines) < 60
    assert [line.count("x") for line in lines][-3:] == [300, 300, 0]
    assert _core.json_text(data, 0) == json.dumps(data, sort_keys=True)  # no levels: one line, as a journal needs it


@dataclasses.dataclass
class Record:
    name: str
    items: Any = ()


def test_a_dataclass_is_a_dict_of_its_fields_with_tuples_as_lists():
    inner = Record("inner", ((1, 2), {"k": (3,)}))
    inner.of_no_field = 4
    data = {"tuple": (5, 6), "record": Record("outer", (inner, Record("empty")))}
    empty, of_inner = {"items": [], "name": "empty"}, {"items": [[1, 2], {"k": [3]}], "name": "inner"}
    as_dict = {"tuple": (5, 6), "record": {"items": [of_inner, empty], "name": "outer"}}
    for levels in range(6):
        assert _core.json_text(data, levels) == expected(as_dict, levels)
    with pytest.raises(TypeError):
        _core.json_text(Record("bytes", b""), 0)


@pytest.mark.parametrize("data", [{1: 2}, object(), [{"a": object()}], {1: 2, "a": 3}, {"a": b""}])
def test_what_has_no_json_is_refused(data):
    with pytest.raises(TypeError):
        _core.json_text(data, 2)


def test_data_that_is_too_deep_is_refused():
    data: list = []
    for _ in range(1_000_000):
        data = [data]
    with pytest.raises(RecursionError):
        _core.json_text(data, 2)
    while data:
        data = data.pop()


def test_json_stands_for_its_value():
    chance = random.Random(4)
    for _ in range(2000):
        data, levels = json.loads(json.dumps(made(chance, 5))), chance.randrange(7)
        text = _core.JsonText(json.dumps(data))
        assert _core.json_text([text], levels) == _core.json_text([data], levels)
    with pytest.raises(ValueError, match="the text ends within a value"):
        _core.JsonText("[")
