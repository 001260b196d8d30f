"""Checks of one combination of PyTorch and CPython, run by its interpreter: check.py OUT:WHAT[:ARGUMENT...]...

WHAT is `plain` or `dumped` (one of examples/ on one backend, without and with depyf.prepare_debug), or one of the
features below. OUT is a file of JSON that gets the observations; `cells.py`, which starts this program, judges them. A
feature that needs more than this PyTorch offers raises NotImplementedError, whose text is the reason.
"""

from __future__ import annotations

import bdb
import contextlib
import hashlib
import importlib.util
import io
import json
import os
import re
import subprocess
import sys
import traceback
import warnings
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def example(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"example_{name}", ROOT / "examples" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def plainly(value: Any) -> Any:
    """Returns a result as plain data for JSON; tensors are represented by their bits."""
    import torch

    if isinstance(value, torch.Tensor):
        data = value.detach().contiguous().numpy().tobytes()
        return {"tensor": str(value.dtype), "shape": list(value.shape), "bits": hashlib.sha256(data).hexdigest()}
    if isinstance(value, (list, tuple)):
        return [plainly(one) for one in value]
    return value if value is None or isinstance(value, (int, float, str)) else repr(value)


class Frames:
    """The frames that Dynamo transforms, counted by a hook that is no part of depyf."""

    def __init__(self) -> None:
        from torch._dynamo import convert_frame

        self.names: list[str] = []

        def hook(old: Any, new: Any) -> None:
            self.names.append(old.co_name)

        convert_frame.register_bytecode_hook(hook)


def run_example(name: str, backend: str) -> dict[str, Any]:
    frames, out = Frames(), io.StringIO()
    with contextlib.redirect_stdout(out):
        result = example(name).main(backend)
    return {"result": plainly(result), "printed": out.getvalue(), "frames": frames.names}


def plain(name: str, backend: str) -> dict[str, Any]:
    """Runs an example without depyf, and returns what was observed."""
    seen = run_example(name, backend)
    assert "depyf" not in sys.modules
    return seen


def dumped(name: str, backend: str, directory: str) -> dict[str, Any]:
    """Runs the example under depyf.prepare_debug, and reads the facts about each frame from the dump's files."""
    import depyf

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with depyf.prepare_debug(directory) as session:
            seen = run_example(name, backend)
    heads = []
    for path in sorted(Path(directory).glob("__transformed_code_*.py"), key=lambda one: int(one.name.split("_")[4])):
        head = "".join(line for line in path.read_text().splitlines(True)[:12] if line.startswith("#"))
        function = path.stem.partition("_for_")[2]
        heads.append(
            {
                "function": function,
                "proved": "\n# proved equivalent to the bytecode that Dynamo made" in "\n" + head,
                "runs": "runs from this file" in head,
                "head": head[:600],
            }
        )
    broken = []
    for path in Path(directory).glob("*.py"):
        try:
            compile(path.read_text(), str(path), "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            broken.append(f"{path.name}: {error}")
    told = json.loads((Path(directory) / "session.json").read_text())["runs"][-1]
    missing = sorted({(one["kind"], one["why"]) for frame in told["frames"] for one in frame["missing"]})
    kinds: dict[str, dict[str, int]] = {}
    for frame in told["frames"]:
        for one in frame["artifacts"]:
            count = kinds.setdefault(one["kind"], {"files": 0, "running": 0})
            count["files"] += 1
            count["running"] += bool(one["running"])
    return {
        **seen,
        "heads": heads,
        "broken": broken,
        "told": [frame["function"] for frame in told["frames"] if frame["status"] == "compiled"],
        "full_code": len(told["full_code"]),
        "files": sum(1 for _ in Path(directory).iterdir()),
        "kinds": kinds,
        "missing": missing,
        "notes": [*session.notes, *(note for frame in session.frames for note in frame.notes)],
        "warnings": [str(one.message)[:400] for one in caught if "depyf" in str(one.message)],
    }


# The features


def scaled(x, y):  # type: ignore[no-untyped-def]
    z = x * 2
    if z.sum() > 0:
        z = z + y
    return z - 1


def compiled(fn: Any) -> Any:
    import torch

    return torch.compile(fn, backend="eager")


def doctor() -> dict[str, Any]:
    """Runs `python -m depyf doctor` for this combination."""
    run = [sys.executable, "-W", "ignore", "-m", "depyf", "doctor", "--json"]
    done = subprocess.run(run, capture_output=True, text=True, timeout=300, check=False)
    found: dict[str, Any] = json.loads(done.stdout)
    wrong = [f"{one['feature']}: {'; '.join(one['why'])}" for one in found["features"] if not one["expected"]]
    assert found["program"] == "works", found["program"]
    if wrong:
        raise NotImplementedError(f"all but what it does not expect: {' | '.join(wrong)}")
    return found


def explain() -> str:
    """Checks that `depyf.explain` reports as many compilations as PyTorch's bytecode hook counts, and guards as
    functions that compile."""
    import depyf
    import torch

    frames = Frames()
    fn = compiled(scaled)
    fn(torch.ones(3), 2)
    fn(torch.ones(3, dtype=torch.float64), 2)
    told = depyf.explain(fn)
    mine = [name for name in frames.names if name == "scaled"]
    assert len(told.entries) == len(mine) == 2, (len(told.entries), frames.names)
    text = str(told)
    for entry in told.entries:
        assert entry.proved, entry.not_proved
        compile(entry.code, "<code>", "exec")
        assert entry.resumes, "the functions that go on after the graph break are missing"
        assert entry.graphs and entry.graphs[0].source, "the graph is missing"
    json.dumps(told.to_dict())
    assert "scaled" in text
    if all(entry.guards.startswith("#") for entry in told.entries):
        raise NotImplementedError(f"all but the guards as a function: {told.entries[0].guards.splitlines()[0][2:]}")
    for entry in told.entries:
        compile(entry.guards, "<guards>", "exec")
        assert "def guard_0(" in entry.guards
    assert any("dtype" in str(one) or "dtype" in text for one in told.entries[1].why), told.entries[1].why
    return f"{len(told.entries)} compilations"


def guards() -> str:
    """Checks that `entry.check` accepts a call if and only if PyTorch runs that call without a new compilation."""
    import depyf
    import torch

    frames = Frames()
    fn = compiled(scaled)
    fn(torch.ones(3), 2)
    calls = [
        (torch.ones(3), 2),
        (torch.zeros(3) + 5, 2),
        (torch.ones(3), 3),
        (torch.ones(4), 2),
        (torch.ones(3, dtype=torch.float64), 2),
        (torch.ones(3, 1), 2),
        (torch.ones(3, requires_grad=True), 2),
        (torch.ones(3), 2.0),
    ]
    for call in calls:
        entries = depyf.cache_entries(fn)
        fits = any(entry.check(*call) for entry in entries)
        before = frames.names.count("scaled")
        fn(*call)
        compiles = frames.names.count("scaled") > before
        assert fits is not compiles, (call, [str(entry.check(*call)) for entry in entries])
    entry = depyf.cache_entries(fn)[-1]
    report = str(entry.check(torch.ones(3, dtype=torch.int32), 2))
    assert "dtype" in report or "int32" in report or "Int" in report, report
    return f"{len(calls)} calls"


def cache_entries() -> str:
    """Checks that cache entries have source and graphs, and can still be called after `torch._dynamo.reset`."""
    import depyf
    import torch

    fn = compiled(scaled)
    x = torch.arange(3.0)
    want = fn(x, 2)
    (entry,) = depyf.cache_entries(fn)
    assert torch.equal(entry.run(x, 2), want)
    compile(entry.source, "<entry>", "exec")
    assert entry.graphs and entry.graphs[0].graph_module is not None
    assert entry.resume_functions
    torch._dynamo.reset()
    assert torch.equal(entry.run(x, 2), want), "the copy does not stay usable"
    return "source, graphs, resume functions, run"


def register() -> str:
    """Checks that the next call uses an edited entry and compiles nothing, and that the old entry is used after the
    edited one is removed."""
    import depyf
    import torch

    frames = Frames()
    fn = compiled(scaled)
    x = torch.arange(3.0)
    want = fn(x, 2)
    count = len(frames.names)
    (entry,) = depyf.cache_entries(fn)
    edited = entry.edit(source=re.sub(r"\breturn ", "return 100 * ", entry.source))
    try:
        handle = edited.register()
    except (NotImplementedError, RuntimeError) as error:
        raise NotImplementedError(str(error)) from None
    assert torch.equal(fn(x, 2), 100 * want)
    handle.remove()
    assert torch.equal(fn(x, 2), want)
    assert len(frames.names) == count
    return "used, and given back"


class Stops(bdb.Bdb):
    """A debugger that records the file of each breakpoint at which it stops."""

    def __init__(self) -> None:
        super().__init__()
        self.hits: list[str] = []

    def user_line(self, frame: Any) -> None:
        if self.break_here(frame):
            self.hits.append(Path(frame.f_code.co_filename).name)
        self.set_continue()

    def pause(self, *args: Any, **kwargs: Any) -> None:
        """Replaces `sys.breakpointhook`: starts tracing the caller, and `user_line` continues at each stop."""
        self.set_trace(sys._getframe(1))


def debug(directory: str) -> str:
    """Checks that breakpoints in dumped files stop the forward and backward pass in `depyf.debug`, which compiles
    nothing."""
    lost = []
    hits, graphs = breakpoints(f"{directory}/eager", "eager", ("Captured_Graph",))
    count = len(hits)
    if not graphs:
        lost.append("no graph runs from its file")
    else:
        assert graphs <= hits, (sorted(graphs), sorted(hits))
        hits, graphs = breakpoints(f"{directory}/aot_eager", "aot_eager", ("Forward_graph", "Backward_graph"))
        if not graphs:
            lost.append("AOTAutograd's graphs do not run from their files")
        elif not graphs & hits:
            lost.append("aot_eager interprets its graphs here, so only breakpoints in the graphs of eager hit")
        else:
            assert graphs <= hits, (sorted(graphs), sorted(hits))
        count += len(hits)
    lost += held_back(f"{directory}/held")
    if lost:
        raise NotImplementedError(f"all but: {'; '.join(lost)}")
    return f"{count} files hit"


def breakpoints(directory: str, backend: str, kinds: tuple[str, ...]) -> tuple[set[str], set[str]]:
    """Returns (the dumped files in which a breakpoint is hit, the files of graphs of these kinds that depyf reports as
    running)."""
    import depyf
    import torch
    from depyf import debugging, running

    torch._dynamo.reset()
    running.files.clear()
    frames = Frames()
    fn = torch.compile(scaled, backend=backend)
    x = torch.ones(3, requires_grad=True)
    with depyf.prepare_debug(directory) as session:
        fn(x, 2).sum().backward()
    count = len(frames.names)
    # A captured graph is not executed if AOTAutograd has compiled it, so only graphs of `kinds` are expected.
    graphs = {one.file for frame in session.frames for one in frame.artifacts if one.running and one.kind in kinds}
    transformed = {frame.transformed_file for frame in session.frames if frame.running}
    debugger = Stops()
    sys.breakpointhook = debugger.pause
    for line in debugging.message().splitlines():
        found = re.match(r"\s+b (.+):(\d+)\s", line)
        if found:
            problem = debugger.set_break(found[1], int(found[2]))
            assert not problem, problem
    with contextlib.redirect_stdout(io.StringIO()), depyf.debug():
        got = fn(x, 2)
        got.sum().backward()
    sys.settrace(None)
    debugger.clear_all_breaks()
    assert torch.equal(got, x * 2 + 2 - 1)
    assert len(frames.names) == count
    hits = set(debugger.hits)
    assert transformed and transformed <= hits, (sorted(transformed), sorted(hits))
    return hits, graphs


def held_back(directory: str) -> list[str]:
    """Returns [] if a call in `depyf.debug` that fits no cache entry runs the original code, and a sentence if PyTorch
    compiles it."""
    import depyf
    import torch

    torch._dynamo.reset()
    os.environ["PYTHONBREAKPOINT"] = "0"
    frames = Frames()
    fn = compiled(scaled)
    with depyf.prepare_debug(directory):
        fn(torch.ones(3), 2)
    count = len(frames.names)
    out = io.StringIO()
    with contextlib.redirect_stdout(out), depyf.debug():
        got = fn(torch.ones(3, dtype=torch.float64), 2)
    assert torch.equal(got, torch.full((3,), 3, dtype=torch.float64))
    if len(frames.names) == count:
        assert "runs as it was written" in out.getvalue(), out.getvalue()
        return []
    assert "cannot be kept from compiling" in out.getvalue(), out.getvalue()
    return ["a call in the block that fits no compilation is compiled: PyTorch cannot be kept from it"]


def step() -> str:
    """Steps through every instruction of transformed code, with its value stack."""
    import depyf
    import torch

    fn = compiled(scaled)
    x = torch.arange(3.0)
    want = fn(x, 2)
    seen: list[Any] = []
    depths: list[int] = []

    def callback(stop: Any) -> None:
        seen.append(stop.code)
        depths.append(len(stop.stack))

    with depyf.step(fn, callback=callback):
        got = fn(x, 2)
    assert torch.equal(got, want)
    mine = [code for code in seen if code.co_name == "scaled"]
    assert len(mine) > 10, [code.co_name for code in seen]
    assert any(code.co_name.endswith("resume_in_scaled") or "resume_in_scaled" in code.co_name for code in seen)
    assert max(depths) > 1
    return f"{len(seen)} stops"


def entry_file(directory: str) -> str:
    """Saves a cache entry to a file, loads it, and compares its result with that of the compiled function."""
    import depyf
    import torch

    fn = compiled(scaled)
    x = torch.arange(3.0)
    want = fn(x, 2)
    (entry,) = depyf.cache_entries(fn)
    path = Path(directory) / "entry.py"
    entry.save(path)
    try:
        loaded, lost = depyf.load_entry(path), ""
    except LookupError as error:
        loaded, lost = depyf.load_entry(path, incomplete=True), str(error).partition("missing ")[2]
    assert torch.equal(loaded.run(x, 2), want)
    if lost:
        raise NotImplementedError(f"all but {lost}")
    return "saved and loaded"


def command(directory: str) -> str:
    """Checks the summary of `python -m depyf run`, and that `python -m depyf explain` prints it from the dump."""
    run = [sys.executable, "-m", "depyf", "run", "-o", directory, str(ROOT / "examples" / "toy.py"), "eager"]
    done = subprocess.run(run, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-1000:]
    told = done.stdout + done.stderr
    assert "toy_example" in told and "graph break" in told, told
    again = subprocess.run(
        [sys.executable, "-m", "depyf", "explain", directory], capture_output=True, text=True, timeout=100, check=False
    )
    assert again.returncode == 0 and "toy_example" in again.stdout, again.stdout + again.stderr
    return "summary"


def answer(what: str, arguments: list[str]) -> dict[str, Any]:
    import torch

    torch._dynamo.reset()
    told: dict[str, Any] = {"torch": torch.__version__, "python": sys.version.split()[0]}
    try:
        told["seen"] = globals()[what](*arguments)
    except NotImplementedError as error:
        told["not_available"] = str(error)
    except Exception as error:
        told["error"] = f"{type(error).__name__}: {error}"[:1500]
        told["traceback"] = traceback.format_exc()[-6000:]
    return told


def main() -> None:
    for job in sys.argv[1:]:
        out, what, *arguments = job.split(":")
        Path(out).write_text(json.dumps(answer(what, arguments)))
    sys.stdout.flush()
    os._exit(0)  # ends threads of Inductor that still compile


if __name__ == "__main__":
    main()
