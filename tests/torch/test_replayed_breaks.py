"""Repeats changes of PyTorch and CPython that broke the older tool. Each test fails if a change of PyTorch or CPython
that it repeats breaks depyf."""

from __future__ import annotations

import ast
import itertools
import re

import pytest
from torch._inductor.codecache import PyCodeCache

import depyf
import torch
from depyf import names
from torch_helpers import bytecode_hook, check_dump, example, names_in


def double(x):
    return x * 2 + 1


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_graph_modules_that_cannot_be_copied(backend, tmp_path, monkeypatch):
    # On 3.14 a counter in a graph cannot be pickled, so code that only reads a graph module must not deep-copy it.
    import copy
    import sys

    def refuses(self, memo):
        at = sys._getframe(1)
        while at is not None:
            if str(at.f_globals.get("__name__", "")).startswith("depyf"):
                raise TypeError("cannot pickle 'itertools.count' object")
            at = at.f_back
        return original(self, memo)

    original = torch.fx.GraphModule.__deepcopy__
    monkeypatch.setattr(torch.fx.GraphModule, "__deepcopy__", refuses)
    with depyf.prepare_debug(tmp_path) as session:
        compiled = torch.compile(double, backend=lambda graph, inputs: _show(graph) if backend == "eager" else graph)
        assert compiled(torch.ones(3)).tolist() == [3, 3, 3]
    assert session.frames[0].files("Captured_Graph") and not session.notes
    check_dump(tmp_path)
    with pytest.raises(TypeError, match=r"itertools\.count"):  # the patched method refuses a copy
        exec("copy.deepcopy(graph)", {"__name__": "depyf.test", "copy": copy, "graph": torch.fx.symbolic_trace(double)})


def _show(graph):
    graph.graph.counter = itertools.count()
    torch._dynamo.utils.lazy_format_graph_code("before split", graph)
    return graph


def test_guards_whose_text_is_no_python(tmp_path):
    compiled = torch.compile(double, backend="eager")
    with depyf.prepare_debug(tmp_path) as session:
        compiled(torch.ones(3))
    (entry,) = torch._dynamo.eval_frame._debug_get_cache_entry_list(double)
    words = [line for leaf in entry.guard_manager.root.get_leaf_guards() for line in leaf.verbose_code_parts()]
    # Some of PyTorch's texts of guards are no valid Python, which broke the older depyf.
    assert [one for one in words if not _is_python(one)]
    (story,) = session.full_code
    ast.parse((tmp_path / story.file).read_text())
    # depyf does not need PyTorch's texts of guards: its function `guard_0` decides like the guards.
    found = depyf.explain(compiled).entries[0].guards
    namespace = {"torch": torch}
    exec(found, namespace)
    (guard,) = [one for name, one in namespace.items() if name.startswith("guard_")]
    assert guard({"x": torch.ones(3)}, globals()) and not guard({"x": torch.ones(3, dtype=torch.int64)}, globals())
    check_dump(tmp_path)


HOSTILE = [
    "def broken(:",
    'first\nreturn 1 +\n    """',
    "'''",
    "x \\",
    "\rimport this\r\n\x0c\x00\u2028class",
    "# ",
    "",
    "L['x'] == ''  # it's a line  # file.py:1 in f\nnot_in_a_comment = (",
]


@pytest.mark.parametrize("words", HOSTILE)
def test_files_are_python_whatever_the_guards_say(words, tmp_path, monkeypatch):
    # Guards with texts that no release of PyTorch writes are shown in the dump and in the explanation.
    monkeypatch.setattr(torch._C._dynamo.guards.LeafGuard, "verbose_code_parts", lambda self: [words])
    compiled = torch.compile(double, backend="eager")
    with depyf.prepare_debug(tmp_path) as session:
        compiled(torch.ones(3))
        compiled(torch.ones(3, dtype=torch.float64))
    (story,) = session.full_code
    for path in tmp_path.glob("*.py"):
        ast.parse(path.read_text(), str(path))
    text = (tmp_path / story.file).read_text()
    assert "not_in_a_comment" not in {name.id for name in ast.walk(ast.parse(text)) if isinstance(name, ast.Name)}
    assert [one for one in session.frames if one.proved] == session.frames and not session.notes
    for entry in depyf.explain(compiled).entries:
        ast.parse(entry.guards)
        ast.parse(entry.code)
    check_dump(tmp_path)


def _is_python(text):
    try:
        ast.parse(text.strip())
        return True
    except SyntaxError:
        return False


def test_uuids_in_the_names_of_graphs(tmp_path):
    codes = []
    with bytecode_hook(lambda old, new: codes.append(new)), depyf.prepare_debug(tmp_path) as session:
        example("toy").main("eager")
    called = {name for code in codes for name in code.co_names if name.startswith("__compiled_fn_")}
    # The names of graphs contain random numbers, which broke the older depyf.
    assert called and all(re.search(r"_[0-9a-f]{8}_[0-9a-f]{4}_", name) for name in called)
    files = names_in(tmp_path)
    for frame in session.frames:
        (file,) = frame.files("Captured_Graph")
        assert file == f"__compiled_fn_{frame.compiled_fn}.Captured_Graph.0.py"
        text = (tmp_path / frame.transformed_file).read_text()
        assert f"__compiled_fn_{frame.compiled_fn}" in text
    assert not [file for file in files if re.search(r"[0-9a-f]{8}_[0-9a-f]{4}", file)]
    assert {names.shorten(name) for name in called} == {
        f"__compiled_fn_{frame.compiled_fn}" for frame in session.frames
    }


def test_arguments_that_a_hooked_function_gained(tmp_path):
    # PyTorch 2.13 passes `set_sys_modules`, by name, to the function that loads output code. A replacement of this
    # function with fixed parameters would refuse the argument.
    import inspect

    before = inspect.signature(PyCodeCache.load_by_key_path)
    assert "set_sys_modules" in before.parameters
    key, path = PyCodeCache.write("answer = 42\n")
    with depyf.prepare_debug(tmp_path):
        torch.compile(double, backend="inductor")(torch.ones(3))  # from here on, depyf has hooked the loading function
        assert PyCodeCache.load_by_key_path.__func__.__code__.co_name == "load_by_key_path"
        assert set(PyCodeCache.load_by_key_path.__func__.__code__.co_varnames[:2]) == {"args", "kwargs"}
        module = PyCodeCache.load_by_key_path(key, path, set_sys_modules=False)
        assert module.answer == 42
        with pytest.raises(TypeError):
            PyCodeCache.load_by_key_path(key, path, no_such_argument=1)
    assert inspect.signature(PyCodeCache.load_by_key_path) == before
    check_dump(tmp_path)
