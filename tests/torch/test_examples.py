"""Tests that the dumps of the example programs contain every frame, and that prepare_debug does not change their
results."""

from __future__ import annotations

from pathlib import Path

import pytest

import depyf
import torch
from torch_helpers import BACKENDS, bytecode_hook, check_dump, example

EXAMPLES = ("toy", "train", "hard")
pytestmark = pytest.mark.slow


def run(name, backend, capsys):
    """Returns the result and the output of the program after a reset of Dynamo."""
    torch._dynamo.reset()
    capsys.readouterr()
    result = example(name).main(backend)
    return result, capsys.readouterr().out


def same(one, other):
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name, backend, tmp_path, capsys):
    plain, plain_printed = run(name, backend, capsys)

    transformed = []
    with bytecode_hook(lambda old, new: transformed.append(old.co_name)), depyf.prepare_debug(tmp_path) as session:
        dumped, dumped_printed = run(name, backend, capsys)

    assert same(plain, dumped)
    assert plain_printed == dumped_printed
    if name == "hard":
        assert dumped == 0 and "differs" not in dumped_printed and dumped_printed.count(" ok") == 10
    assert transformed
    compiled = [frame for frame in session.frames if frame.status == "compiled"]
    assert [frame.function for frame in compiled] == transformed
    assert len({frame.transformed_file for frame in compiled}) == len(transformed)
    for frame in compiled:
        stem = Path(frame.transformed_file).stem
        text = (tmp_path / frame.transformed_file).read_text()
        assert f"def {stem}(" in text
        assert (
            frame.proved and "\n# proved equivalent to the bytecode that Dynamo made; runs from this file\n" in text
        ), frame.not_proved
    check_dump(tmp_path)

    # If the decompiled code of each frame replaces Dynamo's code, the program has the same results.
    compiled_back = []
    with depyf.prepare_debug(tmp_path / "second") as session:

        def replace(old, new):
            source = (tmp_path / "second" / session.frames[-1].transformed_file).read_text()
            code = depyf.compile_like(source, new)
            compiled_back.append((old, code))
            return code

        with bytecode_hook(replace):
            replaced, replaced_printed = run(name, backend, capsys)
            used = [any(entry is code for entry in entry_codes(old)) for old, code in compiled_back]
    assert len(compiled_back) == len(transformed) and all(used)
    assert same(plain, replaced)
    assert plain_printed == replaced_printed


def entry_codes(code):
    return [entry.code for entry in torch._dynamo.eval_frame._debug_get_cache_entry_list(code)]
