"""Tests that the size of a dump is linear in the number of layers of a transformer."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

import depyf
import torch
from torch_helpers import check_dump

_spec = importlib.util.spec_from_file_location("dump_size", Path(__file__).parents[2] / "bench" / "dump_size.py")
dump_size = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(dump_size)

LINE_MAX = 200


def dump(directory: Path, layers: int) -> Path:
    torch._dynamo.reset()
    model, tokens = dump_size.transformer(layers)
    with depyf.prepare_debug(directory):
        torch.compile(model, backend="aot_eager")(tokens).sum().backward()
    check_dump(directory)
    return directory


def check(tmp_path: Path, all_layers: list[int]) -> None:
    figures = {}
    for layers in all_layers:
        directory = dump(tmp_path / str(layers), layers)
        figures[layers] = dump_size.measure(directory)
        assert figures[layers]["longest line"] <= LINE_MAX
        guards = next(directory.glob("__guards_0_*")).read_text()
        assert max(map(len, guards.splitlines())) <= LINE_MAX and f"blocks_{layers - 1}_attn_qkv_weight := " in guards
    for name in ("lines", "MB"):
        assert dump_size.growth([(layers, figures[layers][name]) for layers in all_layers]) < 1.1
    for name in ("index", "full_code"):
        assert len({figures[layers][name] for layers in all_layers}) == 1


def test_texts_grow_linearly_with_layers_and_have_no_long_lines(tmp_path):
    check(tmp_path, [3, 5, 7])


@pytest.mark.long
def test_texts_of_many_layers_grow_linearly(tmp_path):
    check(tmp_path, [6, 12, 24])
