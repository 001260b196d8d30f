"""Tests of files of cache entries: a file is saved, loaded in another process, edited by hand and registered."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import depyf
import torch
from toolkit_helpers import compiles, toy, with_free_variables
from torch_helpers import ENVIRONMENT

X = torch.tensor([1.0, 2.0, 3.0])

MODULE = """
import torch


class Box:
    def __init__(self, scale):
        self.scale = scale


class Scale(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.full((3,), 2.0))

    def forward(self, x, /, *more, k=1, **rest):
        return torch.relu(x * self.weight) * k


def helper(x):
    return x + 1


def function(x, box, *, k=2):
    y = helper(x) * box.scale
    torch._dynamo.graph_break()
    if k == 2:
        y = helper(y)
    return y * k


def closure():
    factor = torch.ones(3) * 3

    def inner(x, *, q):
        return x * factor * q

    return inner


module, inner, x = Scale(), closure(), torch.tensor([1.0, 2.0, 3.0])
CALLS = {
    "function": (function, (x, Box(3)), {"k": 2}),
    "module": (module, (x,), {}),
    "method": (module.forward, (x,), {"k": 5}),
    "free variables": (inner, (x,), {"q": 2}),
}
OTHERS = {
    "function": (function, (x, Box(4)), {"k": 2}),
    "module": (module, (x.double(),), {}),
    "method": (module.forward, (x,), {"k": 6}),
    "free variables": (inner, (x,), {"q": 3}),
}
"""
SAVE = """
import depyf, saved_module, torch
for name, (fn, args, kwargs) in saved_module.CALLS.items():
    compiled = torch.compile(fn, backend="aot_eager")
    compiled(*args, **kwargs)
    entry = next(one for one in depyf.cache_entries(compiled) if one.check(*args, **kwargs))
    entry.edit(source=entry.source.replace("return ", "return 7 * ")).save(f"{name}.py")
    torch._dynamo.reset()
"""
LOAD = """
import json, depyf, saved_module, torch
out = {}
for name, (fn, args, kwargs) in saved_module.CALLS.items():
    other, other_args, other_kwargs = saved_module.OTHERS[name]
    entry = depyf.load_entry(f"{name}.py", None if name == "function" else fn)
    compiled = torch.compile(fn, backend="eager")
    want, other_want = fn(*args, **kwargs), other(*other_args, **other_kwargs)
    with entry.register():
        compiled(*args, **kwargs)  # what follows a graph break is compiled once
        before = torch._dynamo.utils.counters["stats"]["unique_graphs"]
        got = compiled(*args, **kwargs)
        count = torch._dynamo.utils.counters["stats"]["unique_graphs"] - before
        other_got = compiled(*other_args, **other_kwargs)
    out[name] = {
        "accepts": bool(entry.check(*args, **kwargs)),
        "refuses": not entry.check(*other_args, **other_kwargs),
        "run": torch.equal(entry.run(*args, **kwargs), want * 7),
        "registered": torch.equal(got, want * 7) and count == 0,
        "other": torch.equal(other_got, other_want),
        "afterwards": torch.equal(compiled(*args, **kwargs), want),
        "backward": got.requires_grad == want.requires_grad,
    }
print(json.dumps(out))
"""

REFUSED = """
import depyf
for name in ("function", "module", "free variables"):
    try:
        depyf.load_entry(f"{name}.py")
    except Exception as error:
        print(type(error).__name__, error)
"""


def python(program, cwd, source=MODULE):
    (cwd / "saved_module.py").write_text(source)
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        cwd=cwd,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
    )


def test_saved_in_one_process_and_loaded_in_another(tmp_path):
    saved = python(SAVE, tmp_path)
    assert saved.returncode == 0, saved.stderr[-3000:]
    text = (tmp_path / "function.py").read_text()
    assert "identity('saved_module:Box')" in text and "identity('saved_module:helper.__code__')" in text
    assert "def __compiled_fn_" in text and "def __resume_at_" in text
    loaded = python(LOAD, tmp_path)
    assert loaded.returncode == 0, loaded.stderr[-3000:]
    out = json.loads(loaded.stdout.splitlines()[-1])
    assert set(out) == {"function", "module", "method", "free variables"}
    assert all(all(one.values()) for one in out.values()), out

    # In another process a class may be missing, the function may be local, and the instance may be unknown. Each of
    # these errors is reported with the place in the file or the missing argument.
    changed = MODULE.replace("class Box", "class Container").replace("Box(", "Container(")
    said = python(REFUSED, tmp_path, source=changed).stdout.splitlines()
    assert said[0].startswith("LookupError function.py, line ") and "missing Box of module saved_module" in said[0]
    assert "the entry is for one Scale: pass its method as fn=" in said[1]
    assert "missing closure.<locals>.inner of module saved_module: pass the function as fn=" in said[2]


def entry_of(fn, *args):
    compiled = torch.compile(fn, backend="eager")
    compiled(*args)
    return compiled, depyf.cache_entries(compiled)[0]


def add(a, b):
    return a * 2 + b


def is_small(L):
    return L["a"].numel() < 10


def test_what_is_missing_is_said_all_at_once(tmp_path):
    _f, entry = entry_of(add, X, X + 1)
    source = "def add(a, b):\n    return one(__compiled_fn(a, b)[0]) * two(a)".replace(
        "__compiled_fn", entry.graphs[0].name
    )
    edited = entry.edit(
        source=source,
        bind={"one": lambda x: x, "two": lambda x: x * 0 + 2},
        graph=lambda a, b: (a + b,),
        add="L['a'].dim() == 1",
    )
    path = tmp_path / "add.py"
    edited.save(path)
    with pytest.raises(NameError) as caught:
        depyf.load_entry(path, add)
    for name in ("one", "two", entry.graphs[0].name):
        assert f"{name} (an object of type builtins.function)" in str(caught.value)
    bind = {"one": lambda x: x * 5, "two": lambda x: 1, entry.graphs[0].name: lambda a, b: (a - b,)}
    loaded = depyf.load_entry(path, add, bind=bind)
    assert torch.equal(loaded.run(X, X + 1), torch.full((3,), -5.0)) and not loaded.check(X[None], X[None])


def test_guards_that_are_functions(tmp_path):
    f, entry = entry_of(add, X, X + 1)
    path = tmp_path / "add.py"
    entry.edit(add=is_small).save(path)
    loaded = depyf.load_entry(path, add)
    assert loaded.check(X, X + 1) and not loaded.check(torch.ones(11), torch.ones(11))
    entry.edit(add=lambda L: False).save(path)
    with pytest.raises(LookupError, match=r"add.py, line \d+: missing a guard that had no Python form"):
        depyf.load_entry(path, add)
    loaded = depyf.load_entry(path, add, incomplete=True)
    assert loaded.check(X, X + 1) and "not checked here" in str(loaded)
    assert torch.equal(f(X, X + 1), add(X, X + 1))


def test_saved_guards_decide_as_those_they_come_from(tmp_path):
    _f, entry = entry_of(toy, X, X + 1)
    path = tmp_path / "toy.py"
    entry.save(path)
    loaded = depyf.load_entry(path, toy)
    calls = [
        (X, X + 1),
        (X, X),
        (X.double(), X + 1),
        (X[:2], X[:2]),
        (X, X.clone().requires_grad_()),
        (X, 3),
        (X[None], X),
    ]
    verdicts = [bool(entry.check(*one)) for one in calls]
    assert [bool(loaded.check(*one)) for one in calls] == verdicts and True in verdicts and False in verdicts
    with torch.no_grad():
        assert not loaded.check(X, X + 1)
    again = tmp_path / "again.py"
    loaded.save(again)
    assert [bool(depyf.load_entry(again, toy).check(*one)) for one in calls] == verdicts


def local_class():
    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("shift", torch.ones(3))
            self.linear, self.norm = torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3)

        def forward(self, x):
            return self.norm(self.linear(x[None]).repeat(4, 1)) + self.shift

    return Block().eval()


def ungraded(x):
    with torch.no_grad():
        y = x * 2
    return y.to(torch.float64) + float("inf")


def summed(tensors):
    return sum([one * 2 for one in tensors])


def sized(x, n):
    return x * n + x.shape[0]


@pytest.mark.parametrize(
    "fn, args, other, dynamic",
    [
        (local_class(), (X,), (X.double(),), None),
        (ungraded, (X,), (X.double(),), None),
        (summed, ([X, X + 1],), ([X],), None),
        (sized, (X, 3), (X.double(), 3), True),
    ],
)
def test_saved_and_loaded(fn, args, other, dynamic, tmp_path):
    f = torch.compile(fn, backend="aot_eager", dynamic=dynamic)
    want = f(*args)
    (entry,) = depyf.cache_entries(f)
    entry.save(tmp_path / "entry.py")
    torch._dynamo.reset()
    loaded = depyf.load_entry(tmp_path / "entry.py", fn)
    assert torch.allclose(loaded.run(*args), want) and loaded.check(*args) and not loaded.check(*other)
    if dynamic:
        assert loaded.check(torch.ones(9), 5) and torch.equal(loaded.run(torch.ones(9), 5), sized(torch.ones(9), 5))
    before = compiles()
    with loaded.register():
        assert torch.allclose(torch.compile(fn, backend="eager")(*args), want) and compiles() == before


@pytest.mark.parametrize(
    "old, new, error, says",
    [
        ("GUARDS = [", "GUARDS = [[", SyntaxError, r"\(add.py, line"),
        ("GUARDS", "GUARD", ValueError, "line LINE: only ENTRY, NAMES, GUARDS and functions"),
        ("'format': 1", "'format': 99", ValueError, "format 99 is not known"),
        ("NAMES = {", "NAMES = 3 and {", ValueError, "NAMES is not a dict of plain values"),
        ("def add(a, b)", "def add(a)", ValueError, r"arguments differ: \(a\) instead of \(a, b\)"),
        ("    return ", "    return nothing_at_all * ", NameError, "nothing_at_all"),
        (
            "GUARDS = [",
            "GUARDS = [\n    L['zz'] == 1,",
            ValueError,
            r"add.py, line LINE: .*no argument or free variable 'zz'",
        ),
        ("GUARDS = [", "GUARDS = [\n    nowhere == 1,", ValueError, "add.py, line LINE: .*nowhere is not defined"),
    ],
)
def test_files_that_are_wrong(old, new, error, says, tmp_path, monkeypatch):
    _f, entry = entry_of(add, X, X + 1)
    monkeypatch.chdir(tmp_path)
    entry.save("add.py")
    text = (tmp_path / "add.py").read_text()
    at = text.index(old, text.rindex("def add(") if "GUARDS" not in old and "{" not in old and ":" not in old else 0)
    at = text.index("\nGUARDS") + 1 if "GUARDS" in old else at
    (tmp_path / "add.py").write_text(text[:at] + text[at:].replace(old, new, 1))
    says = says.replace("LINE", str(text[:at].count("\n") + (2 if "\n" in new else 1)))
    with pytest.raises(error, match=says):
        depyf.load_entry("add.py", add)
    assert depyf.registered() == []


def test_not_a_file_of_an_entry(tmp_path):
    path = tmp_path / "other.py"
    path.write_text("def f():\n    return 1\n")
    with pytest.raises(ValueError, match="ENTRY is missing, so this is not a file of a cache entry"):
        depyf.load_entry(path, add)
    with pytest.raises(OSError, match="nowhere"):
        depyf.load_entry(tmp_path / "nowhere.py", add)


# The editor


def editor(monkeypatch, tmp_path, program):
    """Sets $EDITOR to a program that changes `text`."""
    path = tmp_path / "editor.py"
    path.write_text(f"import sys\ntext = open(sys.argv[1]).read()\n{program}\nopen(sys.argv[1], 'w').write(text)\n")
    monkeypatch.setenv("EDITOR", f"{sys.executable} {path}")


def test_round_trip_through_an_editor(monkeypatch, tmp_path):
    f, entry = entry_of(add, X, X + 1)
    editor(
        monkeypatch,
        tmp_path,
        "head, code = text.split('def add', 1)\n"
        "text = head.replace('GUARDS = [', \"GUARDS = [\\n    L['b'].min() >= 0,\") + 'def add' + code.replace('return ', 'return 100 * ')\n"
        "assert 'TENSOR_MATCH on' in text and text.startswith('# Ordinary cache entry of add')",
    )
    before = compiles()
    edited = depyf.edit(f, tmp_path / "add.py", editor=True)
    assert torch.equal(f(X, X + 1), 100 * add(X, X + 1)) and compiles() == before
    assert torch.equal(f(X, -X), add(X, -X)) and compiles() == before
    guards = edited.registration.entry.guards
    # Dynamo's own guards are still checked by Dynamo
    assert len(guards) == len(entry.guards) + 1 and edited.registration.entry.native
    # The file is edited again without an editor, and registered in place of the first entry.
    edited.path.write_text(edited.path.read_text().replace("100 *", "50 *"))
    edited.register()
    assert torch.equal(f(X, X + 1), 50 * add(X, X + 1)) and len(depyf.registered()) == 1
    edited.registration.remove()
    assert torch.equal(f(X, X + 1), add(X, X + 1)) and depyf.registered() == []


def test_guards_taken_away_in_the_file_are_said(tmp_path):
    f, entry = entry_of(add, X, X + 1)
    edited = depyf.edit(f, tmp_path / "add.py")
    lines = edited.path.read_text().splitlines()
    gone = next(i for i, line in enumerate(lines) if "len({id(" in line)
    edited.path.write_text("\n".join(lines[:gone] + lines[gone + 1 :]))
    with edited.register() as handle:
        assert "do not alias" in str(handle.entry) and torch.equal(f(X, X), add(X, X))
        assert handle.entry.check(X, X) and not entry.check(X, X)
        assert handle.entry.code is entry.code  # nobody changed it


@pytest.mark.parametrize(
    "program, error, says",
    [
        ("text = text.replace('GUARDS = [', 'GUARDS = [(')", SyntaxError, r"add.py, line \d+"),
        ("text = text.replace('    return', '    returm')", SyntaxError, r"add.py, line \d+"),
        (
            "text = text.replace('    return ', '    return unheard_of + ')",
            NameError,
            r"add.py: add, line \d+: unheard_of",
        ),
        ("text = text.replace('def add(a, b)', 'def add(a, c)')", ValueError, r"add.py, line \d+: .*arguments differ"),
        (
            "text = text.replace('GUARDS = [', 'GUARDS = [\\n  a > 1,')",
            ValueError,
            r"add.py, line \d+: .*a is not defined",
        ),
        (
            "text = text.replace(\"'function': 'add'\", \"'function': 'sub'\")",
            ValueError,
            "add.py: 'function' in ENTRY is 'sub'",
        ),
        ("text = ''", ValueError, "ENTRY is missing"),
        ("sys.exit(3)", RuntimeError, "ended with status 3; nothing is registered"),
    ],
)
def test_mistakes_in_an_editor(program, error, says, monkeypatch, tmp_path):
    f, _entry = entry_of(add, X, X + 1)
    editor(monkeypatch, tmp_path, program)
    with pytest.raises(error) as caught:
        depyf.edit(f, tmp_path / "add.py", editor=True)
    import re

    assert re.search(says, str(caught.value)), caught.value
    assert depyf.registered() == [] and torch.equal(f(X, X + 1), add(X, X + 1))
    assert (tmp_path / "add.py").exists()


def test_no_editor_and_no_entry(monkeypatch, tmp_path):
    monkeypatch.delenv("EDITOR", raising=False)
    monkeypatch.delenv("VISUAL", raising=False)
    f, _entry = entry_of(add, X, X + 1)
    with pytest.raises(RuntimeError, match=r"\$EDITOR is not set"):
        depyf.edit(f, editor=True)
    with pytest.raises(IndexError, match="no entry 4; the number of entries is 1"):
        depyf.edit(f, entry=4)
    inner, _ = with_free_variables()
    edited = depyf.edit(inner, tmp_path / "inner.py")
    edited.path.write_text(edited.path.read_text().replace("return ", "return 0 * "))
    want = torch.full((3,), 2.0)
    with edited.register():
        assert torch.equal(torch.compile(inner, backend="eager")(X, q=3), want)


PROGRAM = """
import sys, torch

def add(a, b):
    return a * 2 + b

f = torch.compile(add, backend="eager")
f(torch.ones(3), torch.zeros(3))
"""


def test_command(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)

    def command(*arguments):
        done = subprocess.run(
            [sys.executable, "-m", "depyf", "edit", *arguments],
            cwd=tmp_path,
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
        )
        return done.returncode, done.stdout, done.stderr

    status, out, err = command("program.py:f", "--file", "entry.py")
    assert status == 0 and "Wrote entry.py" in out, err
    path = tmp_path / "entry.py"
    head, _, code = path.read_text().rpartition("def add")
    path.write_text(f"{head}def add{code.replace('return ', 'return 10 * ')}")
    then = "f(torch.ones(3), torch.zeros(3)).tolist()"
    status, out, err = command("program.py:f", "--apply", "entry.py", "--then", then)
    assert status == 0 and out.splitlines()[-1] == "[20.0, 20.0, 20.0]", err
    path.write_text(path.read_text().replace("GUARDS = [", "GUARDS = [\n    L['c'],"))
    status, out, err = command("program.py:f", "--apply", "entry.py", "--then", then)
    assert status == 1 and "entry.py, line " in err and "nothing is registered" in err and "20.0" not in out
    assert command("program.py:g")[0] == 1 and command("nothing.py:f")[0] == 1 and command("program.py")[0] == 1


TOY_LOAD = """
import json, sys, torch, depyf
from torch._dynamo.utils import counters
import toy_module
entry = depyf.load_entry(sys.argv[1])
with entry.register():
    registered = len(depyf.registered())
    for sign in (1, -1, 1):
        a, b = torch.full((10,), 2.0), torch.full((10,), 3.0 * sign)
        expected = a / 3 * (b if sign > 0 else -b)
        assert torch.allclose(toy_module.toy_example(a, b), expected)
print(json.dumps([registered, len(depyf.registered()), dict(counters["frames"])]))
"""
TOY = """
import torch

@torch.compile(backend="eager")
def toy_example(a, b):
    x = a / (torch.abs(a) + 1)
    if b.sum() < 0:
        b = b * -1
    return x * b
"""
TOY_SAVE = """
import sys, torch, depyf, toy_module
for sign in (1, -1):
    toy_module.toy_example(torch.full((10,), 2.0), torch.full((10,), 3.0 * sign))
(entry,) = depyf.cache_entries(toy_module.toy_example)
entry.save(sys.argv[1])
"""


def test_nothing_is_compiled_where_resume_functions_are_in_the_file(tmp_path):
    (tmp_path / "toy_module.py").write_text(TOY)
    path = tmp_path / "toy.entry.py"
    for program in (TOY_SAVE, TOY_LOAD):
        done = subprocess.run(
            [sys.executable, "-c", program, str(path)], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [3, 0, {}]


def saved(tmp_path, change=lambda text: text):
    """Saves an entry to a file, and changes the text of the file with `change`."""
    path = tmp_path / "entry.py"
    compiled = torch.compile(plain, backend="eager")
    compiled(X)
    depyf.cache_entries(compiled)[0].save(path)
    torch._dynamo.reset()
    text = change(path.read_text())
    path.write_text(text)
    return path


def plain(x):
    return x * 2 + 1


@pytest.mark.parametrize(
    ("definition", "what"),
    [
        ("@print\ndef plain(x):", "a decorator"),
        ("def plain(x: ran.append(1)):", "an annotation"),
        ("def plain(x) -> ran.append(1):", "an annotation"),
        ("def plain(x=ran.append(1)):", "a default value that is no constant"),
        ("import os\ndef plain(x):", "an import"),
        ("ran.append(1)\ndef plain(x):", "only ENTRY, NAMES, GUARDS and functions"),
        ("class C: pass\ndef plain(x):", "only ENTRY, NAMES, GUARDS and functions"),
    ],
)
def test_what_need_not_run_is_refused_with_its_line(tmp_path, definition, what):
    path = saved(tmp_path, lambda text: text.replace("def plain(x):", definition))
    line = next(
        i for i, text in enumerate(path.read_text().splitlines(), 1) if text.startswith(definition.split("\n")[0])
    )
    with pytest.raises(ValueError, match=rf"entry\.py, line {line}: .*{what}"):
        depyf.load_entry(path, plain)


def test_definitions_below_are_not_run_either(tmp_path):
    path = saved(tmp_path, lambda text: text.replace("(L_x_):", "(L_x_, more={}.setdefault('ran', print)):"))
    with pytest.raises(ValueError, match=r"__compiled_fn_\d+ has a default value that is no constant"):
        depyf.load_entry(path, plain)


@pytest.mark.parametrize(("key", "version"), [("python", "3.99"), ("torch", "1.0.0+cpu")])
def test_a_file_of_another_python_or_pytorch_is_refused_with_both_versions(tmp_path, key, version):
    here = {"python": "%d.%d" % sys.version_info[:2], "torch": str(torch.__version__)}

    def change(text):
        assert f"{key!r}: {here[key]!r}" in text
        return text.replace(f"{key!r}: {here[key]!r}", f"{key!r}: {version!r}")

    path = saved(tmp_path, change)
    with pytest.raises(ValueError) as error:
        depyf.load_entry(path, plain)
    assert version in str(error.value) and here[key] in str(error.value)


def test_an_edited_graph_is_saved_and_what_cannot_be_is_warned_of_at_once(tmp_path, recwarn):
    path = tmp_path / "entry.py"
    compiled = torch.compile(plain, backend="eager")
    compiled(X)
    (entry,) = depyf.cache_entries(compiled)
    module = entry.graphs[0].graph_module
    node = next(node for node in module.graph.nodes if node.op == "call_function")
    node.args = (node.args[0], 10)
    entry.edit(graph=module).save(path)
    assert not [one for one in recwarn if "cannot be loaded" in str(one.message)]
    assert torch.equal(depyf.load_entry(path, plain).run(X), X * 10 + 1)
    with pytest.warns(UserWarning, match=r"cannot be loaded without changes.*__compiled_fn_\d+: missing"):
        entry.edit(graph=lambda x: (x * 3,)).save(path)


class Nested(torch.nn.Module):
    def __init__(self):
        super().__init__()
        inner = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU())
        self.layers = torch.nn.Sequential(inner, torch.nn.Linear(3, 3))

    def forward(self, x):
        return self.layers(x)


@pytest.mark.parametrize("make", [lambda: torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU()), Nested])
def test_the_guard_on_the_number_of_layers_has_a_python_form(tmp_path, make):
    module, x = make(), torch.ones(2, 3)
    compiled = torch.compile(module, backend="eager")
    compiled(x)
    (entry,) = depyf.cache_entries(compiled)
    assert not [guard for guard in entry.guards if guard.live is not None]
    entry.save(tmp_path / "entry.py")
    torch._dynamo.reset()
    loaded = depyf.load_entry(tmp_path / "entry.py", compiled)
    with loaded.register(), torch.compiler.set_stance("fail_on_recompile"):
        assert torch.equal(compiled(x), module(x))
    layers = module.layers if isinstance(module, Nested) else module
    layers.append(torch.nn.ReLU())
    refused = loaded.check(x)
    assert not refused and any("__len__" in failure.condition for failure in refused.failures), refused
