"""Tests that depyf reports the size at which a guard of Inductor will cause a recompilation, before a call has this
size."""

from __future__ import annotations

import re

import pytest

import depyf
import torch
from torch_helpers import example


@pytest.mark.slow
def test_the_limit_is_named_before_it_is_hit_and_hit_exactly_there(tmp_path):
    torch.manual_seed(0)
    block = example("train").Block(64)
    compiled = torch.compile(block)
    with depyf.prepare_debug(tmp_path) as session:
        for batch in (8, 16):
            compiled(torch.randn(batch, 64))
        text = str(depyf.explain(compiled))
        named = re.search(r"2 <= x\.shape\[0\] <= (\d+).*?<= \d+: Inductor's own guard \((_inductor/\S+\.py:\d+)", text)
        assert named, text
        limit = int(named[1])
        assert len(session.frames) == 2
        compiled(torch.randn(limit, 64))
        assert len(session.frames) == 2
        compiled(torch.randn(limit + 1, 64))
        assert len(session.frames) == 3
    failure = next(one for one in session.frames[2].failures if one.entry == "0/1")
    assert (failure.subject, failure.expected, failure.actual) == ("x.shape[0]", f"<= {limit}", str(limit + 1))
    # PyTorch's text of the guard names the line that used the size first.
    assert failure.line is None and named[2] in failure.origin
