"""Helpers of the tests that run torch.compile."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import logging
import os
import re
import sys
from pathlib import Path

import torch._dynamo
import torch._dynamo.utils
import torch._inductor.codecache
import torch._inductor.debug
from torch._dynamo import convert_frame

import torch

ROOT = Path(__file__).parents[1]
# The environment of programs that import the same depyf package as the tests.
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "python"), os.environ.get("PYTHONPATH", "")])}
BACKENDS = ("eager", "aot_eager", "inductor")


def empty_inductor_cache(folder):
    """Creates an empty cache of Inductor, and returns its path. The cache shares precompiled headers with other runs,
    because compiling them takes longer than everything that a test compiles."""
    headers = Path(os.environ["TORCHINDUCTOR_CACHE_DIR"]) / "precompiled_headers"
    headers.mkdir(parents=True, exist_ok=True)
    folder.mkdir()
    (folder / "precompiled_headers").symlink_to(headers)
    return str(folder)


def example(name):
    """Returns a program of examples/ as a new module, so that each test runs it for the first time."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", ROOT / "examples" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def hooks():
    """Returns the present state of everything in torch that depyf hooks into."""
    # torch's own lazy handler removes itself at the first record, so it is not compared.
    loggers = {"torch.__trace": [type(h).__name__ for h in logging.getLogger("torch.__trace").handlers]}
    loggers["torch.__trace"] = [name for name in loggers["torch.__trace"] if name != "LazyTraceHandler"]
    for kind in ("__ir_pre_fusion", "__ir_post_fusion"):
        logger = logging.getLogger(f"torch._inductor.debug.{kind}")
        loggers[kind] = (list(logger.handlers), logger.level, logger.propagate)
    fusion = logging.getLogger("torch._inductor.scheduler.__fusion")
    loggers["__fusion"] = (list(fusion.handlers), fusion.level, fusion.propagate)
    return (
        loggers,
        dict(convert_frame._bytecode_hooks),
        torch._dynamo.utils.lazy_format_graph_code.__code__,
        torch.fx.GraphModule.recompile.__code__,
        torch._dynamo.guards.guard_manager_testing_hook_fn,
        sys.modules["torch._inductor.codecache"].PyCodeCache.load_by_key_path.__func__.__code__,
    )


@contextlib.contextmanager
def bytecode_hook(hook):
    """Registers a bytecode hook in a `with` block: Dynamo calls `hook(original, transformed)`."""
    handle = convert_frame.register_bytecode_hook(hook)
    try:
        yield
    finally:
        handle.remove()


def names_in(directory):
    """Returns the names of the files in a directory."""
    return sorted(path.name for path in Path(directory).iterdir())


def runs_in(directory):
    """Returns the runs in session.json."""
    data = json.loads((Path(directory) / "session.json").read_text())
    assert data["schema_version"] == 1
    return data["runs"]


def pages(directory):
    """Returns the text of index.md and of all other pages of a dump."""
    return "\n".join(path.read_text() for path in sorted(Path(directory).glob("*.md")))


def check_dump(directory, beside=()):
    """Checks the rules for every dump: each Python file compiles, no file reports a failure of depyf, and the existing
    files are those that session.json lists, and `beside`."""
    directory = Path(directory)
    for path in directory.glob("*.py"):
        text = path.read_text()
        compile(text, str(path), "exec", dont_inherit=True)
        assert "Failed to decompile" not in text
        assert "which is not Python" not in text, path
        assert not re.search(r"_[0-9a-f]{8}(_[0-9a-f]{4}){3}_[0-9a-f]{12}", text), path
    told = {"index.md", "session.json", "times.json"}
    keys = set()  # the files with keys of cache misses
    names = {path.name for path in directory.glob("*.md")}
    if (directory / "provenance.json").exists():
        told.add("provenance.json")
    for run in runs_in(directory):
        assert not [note for note in run["notes"] if "failed" in note], run["notes"]
        for frame in run["frames"]:
            told.update(artifact["file"] for artifact in frame["artifacts"])
            keys.update(miss["file"] for miss in frame["misses"])
            if frame["transformed_file"]:
                told.add(frame["transformed_file"])
            if frame["guards_file"]:
                told.add(frame["guards_file"])
        told.update(one["file"] for one in run["full_code"])
        told.update(one["file"] for one in run["other_artifacts"])
    assert sorted(told | names | keys | set(beside)) == names_in(directory)
    text = pages(directory)
    assert all(name in text.replace("\\", "") for name in keys)  # the notes in the pages name these files
    for name in (told | names) - {"index.md", "session.json", "provenance.json", "times.json"}:
        assert f"({name})" in text, name
