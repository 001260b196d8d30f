"""Simulates a future PyTorch: each private name that depyf relies on is damaged, one at a time, in five ways.

    python tests/torch/drift.py [--name PART]... [--kind KIND]... [--when before|after] [--case NAME KIND]... [--share I/N]
                               [--json FILE]

The damage is done to torch's own modules, classes, functions, records and loggers, and only depyf gets the damaged
objects, because a release that changes a name changes its own uses of the name too. Some names (local variables,
records, loggers, generated names) are changed for torch as well. For each damaged name, a program is run plain and
under `prepare_debug`, followed by `explain` and the doctor. A program is harmed by any effect on it: an exception,
another result, another number of compilations, a hook that stays. Each case runs in its own process, which is forked
from a process that has loaded torch, and depyf too if the damage comes `after` the import of depyf. Prints the counts;
the exit status is 1 if a program was harmed.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import gc
import importlib
import inspect
import json
import logging
import os
import signal
import sys
import tempfile
import textwrap
import time
import traceback
import types
import warnings
from pathlib import Path

import torch._dynamo
import torch._functorch.aot_autograd
import torch._inductor.compile_fx

import torch
from torch_helpers import hooks

SECONDS = 120
KINDS = ("removed", "renamed", "other signature", "raises", "other type")
# Names that cannot be damaged from Python: constants in C++, names that C++ reads without a frame, and cells and
# classes that exist only during a compilation.
NOT_SIMULATED = ("FrameLayout", "_torchdynamo_orig_backend", "f_globals", "compiled_fw", "compiled_bw")


def by_depyf(frame):
    """True if a frame that reads a name belongs to depyf. Frames of the doctor do not count, because it runs a program
    as a user does."""
    name = str(frame.f_globals.get("__name__", ""))
    return name.partition(".")[0] == "depyf" and not name.startswith("depyf.doctor")


class Changed(Exception):
    """The exception that a damaged name raises."""


class Strange:
    """An object of an unexpected type."""

    def __iter__(self):
        raise Changed("of another type")


def damaged(value, kind, name):
    """Returns the object that depyf gets instead of a value, or raises an AttributeError for a lost name."""
    if kind in ("removed", "renamed"):
        raise AttributeError(f"no attribute {name!r}", name=name, obj=None)
    if isinstance(value, type):
        return {"other signature": _needs_more, "raises": _raises, "other type": Strange}[kind]
    if callable(value):
        if kind == "other type":
            return lambda *args, **kwargs: (value(*args, **kwargs), Strange())[1]
        return _needs_more if kind == "other signature" else _raises
    if kind == "raises":
        raise Changed(f"{name} is not to be read any more")
    return (lambda: value) if kind == "other signature" else Strange()


def _needs_more(*, all_is_passed_by_this_name):
    raise AssertionError("nobody knows it")


def _raises(*args, **kwargs):
    raise Changed("not to be called any more")


def _gives_strange(*args, **kwargs):
    return Strange()


# The ways to damage a name, each as a context manager


@contextlib.contextmanager
def in_module(module, name, kind):
    before = type(module)
    value = getattr(module, name)

    def lookup(self, asked):
        if asked == name and by_depyf(sys._getframe(1)):
            raise AttributeError(f"no attribute {name!r}", name=name, obj=self)
        return before.__getattr__(self, asked)

    members = {"__getattr__": lookup} if hasattr(before, "__getattr__") else {}

    class Module(types.new_class("Module", (before,), {}, lambda namespace: namespace.update(members))):
        def __getattribute__(self, asked):
            if asked == name and by_depyf(sys._getframe(1)):
                return damaged(value, kind, name)
            return super().__getattribute__(asked)

    object.__setattr__(module, "__class__", Module)  # some modules override the setting of attributes
    if kind == "renamed":
        vars(module)[f"{name}_v2"] = value
    try:
        yield
    finally:
        object.__setattr__(module, "__class__", before)
        vars(module).pop(f"{name}_v2", None)


class Method:
    """Replaces a member of a class: depyf gets a damaged member, and all other code the original one."""

    def __init__(self, owner, name, kind):
        self.owner, self.name, self.kind = owner, name, kind
        self.before = inspect.getattr_static(owner, name, Strange)

    def __get__(self, instance, owner=None):
        if not by_depyf(sys._getframe(1)):
            return self._original(instance, owner)
        if self.kind in ("removed", "renamed"):
            raise AttributeError(f"no attribute {self.name!r}", name=self.name, obj=instance)
        return damaged(self._original(instance, owner), self.kind, self.name)

    def _original(self, instance, owner):
        if instance is not None and self.name in getattr(instance, "__dict__", ()):
            return instance.__dict__[self.name]
        if self.before is Strange:
            raise AttributeError(f"no attribute {self.name!r}", name=self.name, obj=instance)
        get = getattr(type(self.before), "__get__", None)
        return self.before if get is None else get(self.before, instance, owner)


class Attribute(Method):
    """An attribute of instances that is damaged for depyf alone."""

    def __set__(self, instance, value):
        put = getattr(type(self.before), "__set__", None)
        if put is not None:
            put(self.before, instance, value)
        else:
            instance.__dict__[self.name] = value

    def __delete__(self, instance):
        del instance.__dict__[self.name]


class Meta(Attribute):
    """Damages one key of the dict in an attribute of instances."""

    def __init__(self, owner, name, kind, key):
        super().__init__(owner, name, kind)
        self.key = key

    def __get__(self, instance, owner=None):
        table = self._original(instance, owner)
        if instance is None or not by_depyf(sys._getframe(1)) or self.key not in table:
            return table
        key, kind = self.key, self.kind

        class Table(dict):
            def get(self, asked, default=None):
                return self[asked] if asked in self else default  # noqa: SIM401

            def __getitem__(self, asked):
                return damaged(super().__getitem__(asked), kind, key) if asked == key else super().__getitem__(asked)

        copy = Table(table)
        if kind in ("removed", "renamed"):
            dict.pop(copy, key)
        return copy


@contextlib.contextmanager
def in_class(owner, name, member):
    own = name in vars(owner)
    before = vars(owner).get(name)
    setattr(owner, name, member)
    try:
        yield
    finally:
        if own:
            setattr(owner, name, before)
        else:
            delattr(owner, name)


@contextlib.contextmanager
def local_variable(owner, name, kind):
    """Renames a local variable of torch's functions, and assigns another value to the name that depyf looks for."""
    functions = [owner] if isinstance(owner, types.FunctionType) else list(vars(owner).values())
    functions = [inspect.unwrap(one) for one in functions if isinstance(one, types.FunctionType)]
    functions = [one for one in functions if name in one.__code__.co_varnames and not one.__code__.co_freevars]
    undo = []
    for function in functions:
        if any(function is done for done, _ in undo):
            continue
        with contextlib.suppress(OSError):
            undo.append((function, function.__code__))
            function.__code__ = _with_other_variable(function, name, kind)
    assert undo, f"no function has a variable {name}"
    try:
        yield
    finally:
        for function, code in undo:
            function.__code__ = code


def _with_other_variable(function, name, kind):
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    definition = tree.body[0]
    definition.decorator_list.clear()
    is_parameter = name in inspect.signature(function).parameters
    other = f"{name}_v2"

    class Rename(ast.NodeTransformer):
        def visit_Name(self, node):
            return ast.copy_location(ast.Name(other, node.ctx), node) if node.id == name else node

    definition.body = [Rename().visit(one) for one in definition.body]
    head = [f"{other} = {name}", f"del {name}"] if is_parameter else []
    if kind in ("other signature", "raises", "other type"):
        value = {"other signature": "_needs_more", "raises": "_raises", "other type": "Strange()"}[kind]
        head.append(f"{name} = __import__('sys').modules['drift'].{value}")
    definition.body[:0] = ast.parse("\n".join(head)).body
    ast.fix_missing_locations(tree)
    namespace = {}
    exec(compile(tree, function.__code__.co_filename, "exec"), function.__globals__, namespace)
    made = namespace[function.__name__].__code__
    assert made.co_freevars == function.__code__.co_freevars
    return made


@contextlib.contextmanager
def record(name, kind):
    """Changes a record of the structured trace for all listeners."""

    def change(one):
        metadata = one.metadata
        artifact = metadata.get("artifact")
        known = artifact.get("name") if isinstance(artifact, dict) else next(iter(metadata), None)
        if known != name:
            return True
        if kind == "removed":
            return False
        if kind == "renamed":
            one.metadata = {"artifact": {"name": f"{name}_v2"}} if artifact else {f"{name}_v2": metadata[name]}
        elif kind == "other signature":
            one.payload = None
            one.metadata = {"artifact": {"name": name, "version": 2}} if artifact else {name: {}}
        elif kind == "raises":
            one.metadata = Raising(one.metadata)
        else:
            one.payload = Strange()
            one.metadata = {name: Strange()}
        return True

    with filtered(change):
        yield


class Raising(dict):
    """A dict that cannot be read."""

    def get(self, *args):
        raise Changed("not to be read any more")

    __getitem__ = get


@contextlib.contextmanager
def record_attribute(name, kind):
    def change(one):
        value = vars(one)[name]
        if kind == "other type":
            vars(one)[name] = Strange()
        elif kind == "other signature":
            vars(one)[name] = lambda: value
        else:
            del vars(one)[name]
            if kind == "renamed":
                vars(one)[f"{name}_v2"] = value
            if kind == "raises":
                one.__class__ = type("Record", (logging.LogRecord,), {name: property(lambda self: _raises())})
        return True

    with filtered(change):
        yield


@contextlib.contextmanager
def filtered(change):
    logger = logging.getLogger("torch.__trace")
    logger.addFilter(change)
    try:
        yield
    finally:
        logger.removeFilter(change)


@contextlib.contextmanager
def logger(name, kind):
    """Renames torch's loggers, or replaces them by objects of another type."""
    found = [one for one in list(logging.root.manager.loggerDict) if one == name or one.endswith(f".{name}")]
    undo = []
    for full in found:
        one = logging.root.manager.loggerDict[full]
        if kind in ("removed", "renamed"):
            undo.append((logging.root.manager.loggerDict, full, one))
            logging.root.manager.loggerDict[full if full == "torch.__trace" else f"{full}_v2"] = logging.Logger(full)
            if full != "torch.__trace":
                del logging.root.manager.loggerDict[full]
        else:
            vars(one)["addHandler"] = {"other signature": _needs_more, "raises": _raises, "other type": _gives_strange}[
                kind
            ]
    try:
        yield
    finally:
        for full in found:
            vars(logging.root.manager.loggerDict.get(full, Strange())).pop("addHandler", None) if not undo else None
        for table, full, one in undo:
            table.pop(f"{full}_v2", None)
            table[full] = one


# The functions that damage the names of rows

_made_by_compile = None


@contextlib.contextmanager
def on_results(name, kind):
    """Damages an attribute of the results of torch.compile, by which depyf recognises them."""
    global _made_by_compile

    def change(result):
        own = vars(result)
        if name not in own:
            return
        value = own.pop(name)
        if kind == "renamed":
            own[f"{name}_v2"] = value
        elif kind == "other signature":
            own[name] = lambda: value
        elif kind in ("raises", "other type"):
            own[name] = Strange()

    _made_by_compile = change
    try:
        yield
    finally:
        _made_by_compile = None


@contextlib.contextmanager
def unique_names(prefix, kind):
    """Changes the names that Dynamo generates, such as `__compiled_fn_1`."""
    from torch._dynamo import bytecode_transformation

    function = bytecode_transformation.unique_id
    before = function.__code__
    original = types.FunctionType(before, function.__globals__, "unique_id", function.__defaults__)
    other = {"removed": "__dynamo_", "renamed": f"{prefix}v2_", "other signature": f"{prefix}x_{{}}"}.get(kind, "__é_")

    def make(name, with_uuid=False):
        made = original(name, with_uuid)
        return made.replace(prefix, other.replace("{}", "é"), 1) if made.startswith(prefix) else made

    global _unique_id
    _unique_id = make

    def unique_id(name, with_uuid=False):
        import sys

        return sys.modules["drift"]._unique_id(name, with_uuid)

    function.__code__ = unique_id.__code__
    try:
        yield
    finally:
        function.__code__ = before


_unique_id = None


@contextlib.contextmanager
def resume_prefix(kind):
    name = "TORCH_DYNAMO_RESUME_IN_PREFIX"
    other = {"removed": "dynamo", "renamed": "torch_dynamo_v2_resume_in", "raises": "resume", "other type": "é"}
    modules = [one for one in list(sys.modules.values()) if name in vars(one or types)]
    before = getattr(modules[0], name)
    for one in modules:
        setattr(one, name, other.get(kind, f"{before}_of"))
    try:
        yield
    finally:
        for one in modules:
            setattr(one, name, before)


def damage(row, kind):
    """Returns a context manager that damages the name in a row of depyf.compat.names."""
    if row.kind == "mark":
        if row.path == "_dynamo_source":
            return in_class(torch.fx.Node, row.path, Attribute(torch.fx.Node, row.path, kind))
        if row.path.startswith("_torchdynamo_"):
            return on_results(row.path, kind)
        return resume_prefix(kind) if row.path == "torch_dynamo_resume_in_" else unique_names(row.path, kind)
    if row.kind == "record":
        return record(row.path, kind)
    if row.kind == "logger":
        return logger(row.path, kind)
    if row.path.startswith("torch.__trace."):
        return record_attribute(row.last, kind)
    owner = sys.modules[row.module]
    for part in row.parts[:-1]:
        owner = getattr(owner, part.partition("[")[0])
    if row.kind == "local":
        return local_variable(owner, row.last, kind)
    if row.kind == "key":
        name, _, key = row.last.rstrip("]").partition("[")
        return in_class(owner, name, Meta(owner, name, kind, key))
    if not isinstance(owner, type):
        return in_module(owner, row.last, kind)
    is_set = row.kind == "attribute" or hasattr(type(inspect.getattr_static(owner, row.last, None)), "__set__")
    return in_class(owner, row.last, (Attribute if is_set else Method)(owner, row.last, kind))


# The program


def toy_example(a, b):
    x = a / (torch.abs(a) + 1)
    if b.sum() < 0:
        b = b * -1
    return x * b


def fails(x):
    if x.shape[0] == 3:
        raise KeyError("the user's own")
    return x * 2


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 2.0

    def forward(self, x, *, shift=1):
        return (x * self.scale + shift).relu()


def compiled_by(function, backend):
    result = torch.compile(function, backend=backend)
    if _made_by_compile is not None:
        _made_by_compile(result)
    return result


def program(backend):
    """Runs a graph break, forward and backward, an exception and a recompilation. Returns (the computed values, the
    compiled code).

    Only the module is compiled on `backend`, because compiling a graph takes the most time.
    """
    torch._dynamo.reset()
    torch.manual_seed(0)
    toy, model, failing = (compiled_by(*one) for one in ((toy_example, "eager"), (Model(), backend), (fails, "eager")))
    out = [toy(torch.arange(4) * sign + 1.0, torch.ones(4) * sign) for sign in (1.0, -1.0)]
    x = torch.ones(3, requires_grad=True)
    result = model(x)
    result.sum().backward()
    out += [result.detach(), x.grad]
    if backend == "inductor":  # Inductor compiles a graph without gradients in another way
        out.append(model(torch.ones(3)))
    with contextlib.suppress(KeyError):
        failing(torch.ones(3))
        out.append("not raised")
    return [*out, failing(torch.ones(4)), failing(torch.ones(4, dtype=torch.float64))], toy


def counted(backend):
    torch._dynamo.utils.counters.clear()
    values, toy = program(backend)
    counters = torch._dynamo.utils.counters
    return values, toy, (dict(counters["stats"]), dict(counters["graph_break"]))


def same(one, other):
    return len(one) == len(other) and all(
        torch.equal(x, y) if isinstance(x, torch.Tensor) and isinstance(y, torch.Tensor) else x == y
        for x, y in zip(one, other, strict=True)
    )


def examine(row, kind, when, backend, plain):
    """Runs one case. Returns the harm to the program, the number of warnings about the name, whether the doctor names
    it, and other warnings."""
    harm = []
    before = hooks()
    assert ("depyf" in sys.modules) == (when == "after")
    with tempfile.TemporaryDirectory() as directory, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with damage(row, kind):
                import depyf

                try:
                    with depyf.prepare_debug(directory):
                        values, toy, counts = counted(backend)
                    if not same(values, plain[0]):
                        harm.append("other results")
                    # Some damage also affects Dynamo, when it compiles the damaged function itself.
                    if counts != plain[1] and counts != (now := counted(backend)[2]):
                        harm.append(f"compiled otherwise: {counts} instead of {now}")
                    str(depyf.explain(toy))
                    depyf.explain(toy).to_dict()
                except Exception as error:
                    harm.append(f"{type(error).__name__}: {error} at {places(error)}")
                if not (Path(directory) / "index.md").exists():
                    harm.append("no index.md")
                told = [str(one.message) for one in caught if str(one.message).startswith("depyf")]
                named = doctor_names(row, told)
                if not named:  # `trial.run` finds more than the warnings, because it tries each feature
                    from depyf.doctor import trial

                    ran, problems = trial.run(backend)
                    named = doctor_names(row, told) or bool(problems)
                    if ran != "works":
                        harm.append(f"the doctor's program: {ran}")
        except Exception as error:
            harm.append(f"{type(error).__name__}: {error} at {places(error)}")
            told, named = [], False
    if hooks() != before:
        harm.append("a hook stayed")
    mine = [text for text in told if row.last in text]
    others = [text for text in told if row.last not in text]
    losses = [text for text in told if "of PyTorch" in text or " failed: " in text]
    return {"harm": harm, "told": len(mine), "lost": len(losses), "named": named, "others": others}


def doctor_names(row, told):
    """True if the doctor reports the damaged name, and all other names about which depyf warned."""
    from depyf.compat import probe
    from depyf.compat.names import NAMES

    known = {one.path for one in NAMES}
    mine = {word for text in told if row.last not in text for word in text.split() if word in known}
    whys = [why for one in probe.features() for why in one.why]
    named = [any(why.startswith(f"{path} ") for why in whys) for path in mine]
    return any(row.last in why for why in whys) if not named else all(named)


def places(error):
    found, at = [], error.__traceback__
    while at is not None:
        found.append(f"{Path(at.tb_frame.f_code.co_filename).name}:{at.tb_lineno}")
        at = at.tb_next
    return " ".join(found[-6:])


# Each case runs in a process of its own. The process is forked from a process that has loaded torch, and has also
# loaded depyf if the case damages a name after depyf is imported.


def forked(function, *arguments):
    """Returns the result of a function that runs in a process of its own, through JSON; if the process failed, its exit
    status or signal."""
    reader, writer = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if not child:
        status = 1
        try:
            os.close(reader)
            signal.alarm(SECONDS)
            with os.fdopen(writer, "w") as out:
                json.dump(function(*arguments), out)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader) as answer:
        text = answer.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return json.loads(text) if status == 0 else status


def rows():
    """Returns the rows of the names that this PyTorch release is expected to have."""
    from depyf.compat.names import NAMES
    from depyf.compat.releases import Release

    release = Release.of(torch.__version__)
    known = [row for row in NAMES if row.expected(release) and row.path not in NOT_SIMULATED]
    return [{key: getattr(row, key) for key in ("path", "kind", "lazy", "module", "parts", "last")} for row in known]


def cases(parts, kinds, whens):
    known = [types.SimpleNamespace(**row) for row in forked(rows)]
    known = [row for row in known if not parts or any(part in row.path for part in parts)]
    return [(row, kind, when) for when in whens for row in known for kind in kinds]


def run(wanted, *, show=False):
    """Runs cases, and returns one dict of results for each case."""
    sys.modules.setdefault("drift", sys.modules[__name__])
    # Everything is compiled anew except the C++ kernels, which are reused by their source.
    torch._inductor.config.fx_graph_cache = torch._functorch.config.enable_autograd_cache = False
    torch._inductor.config.compile_threads = 1
    torch.set_num_threads(1)
    # PyTorch measures the speed of guards with this function, which takes longer than all other work, and is not needed
    # here.
    torch._dynamo.guards.profile_guard_manager = lambda *_: 0.0
    with tempfile.TemporaryDirectory() as directory:
        # The bytecode of depyf is cached in this folder, since each process imports depyf.
        sys.dont_write_bytecode, sys.pycache_prefix = False, directory
        return _run(wanted, show)


def _run(wanted, show):
    plain, found = {}, []
    for row, kind, when in sorted(wanted, key=lambda one: one[2] == "after"):
        inductor = row.lazy or any(part in row.path for part in ("inductor", "pre_grad", "post_grad", "inference"))
        backend = "inductor" if inductor else "aot_eager"
        if backend not in plain:
            program(backend)  # the first compilation fills caches of torch that all cases need
            plain[backend] = counted(backend)[::2]
            gc.freeze()
        if when == "after":
            importlib.import_module("depyf")
        start = time.perf_counter()
        result = forked(examine, row, kind, when, backend, plain[backend])
        if not isinstance(result, dict):
            result = {"harm": [f"the process ended with {result}"], "told": 0, "lost": 0, "named": False, "others": []}
        result.update(name=row.path, kind=kind, when=when, seconds=round(time.perf_counter() - start, 2))
        found.append(result)
        if show:
            what = "HARMED" if result["harm"] else f"told {result['told']}"
            doctor = "" if result["named"] else ", the doctor names nothing"
            print(
                f"{row.path} {kind}, {when}: {what}{doctor}",
                *result["harm"],
                *result["others"],
                sep="\n      ",
                flush=True,
            )
    return found


OUTCOMES = {
    "programs harmed": lambda one: one["harm"],
    "losses told once, by the name": lambda one: one["told"] == 1,
    "losses told once, by a name that it leads to": lambda one: one["told"] == 0 and one["lost"] == 1,
    "losses told more than once": lambda one: max(one["told"], one["lost"]) > 1,
    "told, and not named by the doctor": lambda one: one["lost"] and not one["named"],
    "found by the doctor alone": lambda one: not one["lost"] and one["named"],
    "without any effect on what depyf does": lambda one: not one["lost"] and not one["named"],
}
TO_LOOK_AT = ("programs harmed", "losses told more than once", "told, and not named by the doctor")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--name", action="append", default=[])
    parser.add_argument("--kind", action="append", choices=KINDS)
    parser.add_argument("--when", action="append", choices=("before", "after"))
    parser.add_argument("--case", action="append", nargs=2, metavar=("NAME", "KIND"))
    parser.add_argument("--share", default="0/1")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    share, shares = map(int, arguments.share.split("/"))
    whens = arguments.when or ("before", "after")
    if arguments.case:
        wanted = [one for name, kind in arguments.case for one in cases([name], [kind], whens)[:1]]
    else:
        wanted = cases(arguments.name, arguments.kind or KINDS, whens)[share::shares]
    started = time.monotonic()
    found = run(wanted, show=True)
    harmed = [one for one in found if one["harm"]]
    print(f"{len(found)} cases of {len({one['name'] for one in found})} names, {time.monotonic() - started:.0f} s")
    for what, one_of in OUTCOMES.items():
        those = [one for one in found if one_of(one)]
        print(f"{len(those):5} {what}")
        if those and what in TO_LOOK_AT:
            print(*(f"      {one['name']} {one['kind']}, {one['when']}" for one in those), sep="\n")
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(found, indent=1))
    return int(bool(harmed))


if __name__ == "__main__":
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), os.pardir))
    sys.exit(main())
