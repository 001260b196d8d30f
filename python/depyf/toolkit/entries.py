"""Cache entries: what Dynamo holds of a function, copied, in the order in which it is tried."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from depyf import _core, decompiler, guards, running
from depyf.capture import memory
from depyf.compat import ahead, cache, installed, restored
from depyf.guards import Guard
from depyf.toolkit import ahead_file, ahead_of_time, building, callees, checking, edits, lookup, registration, saving
from depyf.toolkit.callees import Graph, ResumeFunction
from depyf.toolkit.checking import GuardReport
from depyf.toolkit.conditions import Condition, Selector
from depyf.toolkit.lookup import Dispatch
from depyf.toolkit.registration import Registration
from depyf.toolkit.target import Target, find_target

Kind = Literal["ordinary", "registered", "loaded", "edited", "ahead of time"]


@dataclass(eq=False)
class CacheEntry:
    """Transformed code and the guards that say when it may be used.

    `cache_entries` returns copies: they stay as they are whatever Dynamo does, and hold everything that the code
    needs.
    """

    target: Target = field(repr=False)
    code: types.CodeType = field(repr=False)
    kind: Kind
    """"ordinary" (Dynamo's own), "registered" (put in front of those by `register`), "loaded" (put there by PyTorch: its
    code is known where the result of `torch.compile` is given, or a block recorded it), "edited" (made by `edit`, `new_entry` or
    `load_entry`, and not in use), "ahead of time" (made by `aot_compile`, and in no cache)."""
    guards: list[Guard] = field(repr=False)
    """In the order in which they are checked."""
    compile_id: str | None = None
    bound: dict[str, Any] = field(default_factory=dict, repr=False)
    """Global names of the code that are not the function's own, with what they stand for here: graphs, resume functions,
    modules that Dynamo imported."""
    warnings: list[str] = field(default_factory=list, repr=False)
    """In words, what is no longer checked, and what can go wrong for that."""
    backend: Any = field(default=None, repr=False)
    tree: Any = field(default=None, repr=False)
    """PyTorch's guards that `guards` came from."""
    native: tuple[Guard, ...] = field(default=(), repr=False)
    """The guards that `tree` checks; in an edited entry `guards` differ from them."""
    written: str | None = field(default=None, repr=False)
    definitions: dict[str, tuple[Any, str]] = field(default_factory=dict, repr=False)
    """Of names that a loaded file defines: the function, and its source."""
    resumed: list[CacheEntry] = field(default_factory=list, repr=False)
    """Of a loaded entry: the entries of its resume functions, which are registered and removed with it."""
    ahead: Any = field(default=None, repr=False)
    """PyTorch's object for what was compiled ahead of time, which the entry is of."""
    _manager: Any = field(default=None, repr=False)

    def __repr__(self) -> str:
        compile_id = "" if self.compile_id is None else f" {self.compile_id}"
        return f"<{self.kind} entry{compile_id} of {self.target.name}: {len(self.guards)} guards>"

    def __str__(self) -> str:
        lines = [repr(self)[1:-1]]
        lines += [f"  warning: {warning}" for warning in self.warnings]
        return "\n".join(lines)

    @property
    def source(self) -> str:
        """The code as Python; for edited source, the text that was given.

        Raises:
            ValueError: an entry that PyTorch loaded does not show its code.
        """
        self._need_code()
        return self.written if self.written is not None else decompiler.decompile(self.code)

    @property
    def graphs(self) -> list[Graph]:
        """The graphs that the code calls, in the order of their names in it."""
        return callees.graphs(self.code, self.bound)

    @property
    def resume_functions(self) -> list[ResumeFunction]:
        """The functions that the code calls after a graph break."""
        return callees.resume_functions(self.code, self.bound, self.target)

    def check(self, /, *args: Any, **kwargs: Any) -> GuardReport:
        """Evaluates the guards for a call with these arguments, and lists every one that fails.

        Raises:
            TypeError: the arguments do not fit the function.
        """
        return checking.check(self, self.target.bind(args, kwargs), (args, kwargs))

    def run(self, /, *args: Any, **kwargs: Any) -> Any:
        """Runs the code for these arguments; the guards are not asked.

        The function that follows a graph break runs as plain Python here, outside of `torch.compile`.

        Raises:
            TypeError: the arguments do not fit the function.
            ValueError: the code, or the function's free variables, are not known.
            Exception: whatever the code raises.
        """
        self._need_code()
        return self.target.call(self.runnable(), args, kwargs)

    def runnable(self) -> types.CodeType:
        """Returns the code with the names in `bound` as constants, so that nothing that Dynamo takes away can be
        missing.

        Raises:
            ValueError: the code is not known.
        """
        self._need_code()
        runnable = _core.bind_names(self.code, self.bound)
        running.files.hold(runnable, self.code)
        return runnable

    def manager(self) -> Any:
        """Returns PyTorch's object for the guards, made once."""
        if self._manager is None:
            self._manager = building.build(self)
        return self._manager

    def edit(
        self,
        *,
        source: str | Path | None = None,
        code: types.CodeType | None = None,
        drop: Selector | Sequence[Selector] = (),
        add: Condition | Sequence[Condition] = (),
        replace: Mapping[Any, Condition] | Sequence[tuple[Selector, Condition]] = (),
        relax: Any = (),
        graph: Any = None,
        kernel: Any = None,
        bind: Mapping[str, Any] | None = None,
    ) -> CacheEntry:
        """Returns a changed copy, which Dynamo does not know until it is registered.

        A guard is named by itself, its index in `guards`, its text, Dynamo's name of a value ("L['b']": all guards on
        it or on what is reached through it), or a predicate. Checks that are lost are described in `warnings`.

        Args:
            source: the code as edited text of `source`, or the path of an edited file of a dump.
            code: a code object in its place.
            drop: guards to leave out.
            add: guards to add: expressions over `L`, `G` and `torch`, or functions of the locals.
            replace: guards and what comes in their place.
            relax: dimensions of tensors that may vary: {"L['x']": 0}, or "dimension 0 of L['x'] may vary".
            graph: an edited `torch.fx.GraphModule`, or a callable, in the place of the graph; if the code calls
                several, a mapping from their names.
            kernel: the path of an edited file of Inductor's output code; if the code calls several graphs, a mapping
                from their names.
            bind: names that the edited source uses and the function's module does not have.

        Raises:
            SyntaxError: source or a guard is not Python; it carries the place.
            NameError: the source uses a name that nothing defines.
            ValueError: the code cannot stand in for the function's; a guard, name or dimension is not there.
            TypeError: an argument of a wrong type.
            OSError: a file cannot be read.
        """
        return edits.edit(self, source, code, drop, add, replace, relax, graph, kernel, bind)

    def register(self) -> Registration:
        """Makes Dynamo use this entry from the next call on, before all others of the function.

        It is used where Dynamo meets a frame of the function. Another function that was compiled with a call of this one
        within it holds a copy of what it did, and never asks.

        The handle's `remove` takes it away again; in a `with` statement the end of the block does. An entry may be
        registered again after that, and after `torch._dynamo.reset`, which takes away every registered entry too.

        Raises:
            ValueError: the code cannot stand in for the function's; the message says why.
            NotImplementedError: this PyTorch cannot do it; the message says which can.
            RuntimeError: called by a guard, or PyTorch itself has loaded entries of this function.
        """
        return registration.register(self)

    def save(self, path: str | Path) -> None:
        """Writes source, guards and the names that the code needs to a file, which `load_entry` reads.

        The entries of its resume functions go into the file too. A warning lists the parts that cannot be written,
        such as an edited kernel or a callable in the place of a graph that no module leads to. A file is to be trusted as
        a module is.

        Raises:
            ValueError: the code is not known.
            OSError: the file cannot be written.
        """
        saving.save(self, Path(path), cache_entries)

    def save_compiled_function(self, path: str | Path) -> None:
        """Writes what was compiled ahead of time with this entry's code and guards to a file, which
        `torch.compiler.load_compiled_function` reads.

        Raises:
            ValueError: the entry is of nothing that was compiled ahead of time, or PyTorch's file cannot hold what was edited;
                the message says what.
            OSError: the file cannot be written.
        """
        ahead_file.save(self, Path(path))

    def _dispatch(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Dispatch:
        """Returns which entry of the same function a call with these arguments would take now."""
        return lookup.dispatch_among(self.target, args, kwargs, cache_entries)

    def _need_code(self) -> None:
        if self.kind == "loaded" and self.code is self.target.code:
            raise ValueError(f"{self.target.name}: PyTorch loaded this entry, and does not show its code")


def cache_entries(fn: Any) -> list[CacheEntry]:
    """Returns the cache entries of a function, the one that Dynamo tries first in front.

    Args:
        fn: a function, method or module, the result of `torch.compile` for one, or a resume function; or what was compiled
            ahead of time, as aot_compile returns it or as it was loaded from a file.

    Returns:
        Copies: registered entries first, then the ordinary ones. Empty for a function that was never compiled. What was
        compiled ahead of time has one for each input that it was compiled for.

    Raises:
        TypeError: there is no Python function behind `fn`.
        NotImplementedError: this PyTorch does not show its cache.
    """
    compiled_ahead = ahead_of_time.targets(fn)
    if compiled_ahead:
        return [_ahead_of_time(compiled, target) for compiled, target in compiled_ahead]
    target = target_of(fn)
    entries = [_as_registered(handle.entry, target) for handle in registration.registered_of(target.code)]
    managers = registration.not_ours(target.code)
    for manager, code in zip(managers, _restored_codes(fn, target.code, len(managers))):
        listed = list(guards.read(manager) or ())
        bound = {} if code is target.code else callees.bound_names(code, target)
        entries.append(CacheEntry(target, code, "loaded", listed, bound=bound, tree=manager, native=tuple(listed)))
    for raw in cache.raw_entries(target.code):
        listed = list(guards.read(raw.manager) or ())
        bound = callees.bound_names(raw.code, target)
        entry = CacheEntry(
            target,
            raw.code,
            "ordinary",
            listed,
            raw.compile_id,
            bound,
            backend=raw.backend,
            tree=raw.manager,
            native=tuple(listed),
        )
        running.files.hold(entry, raw.code)
        entries.append(entry)
    return entries


def _ahead_of_time(compiled: ahead.Compiled, target: Target) -> CacheEntry:
    listed = list(guards.read(compiled.guard_manager) or ())
    entry = CacheEntry(
        target,
        compiled.code,
        "ahead of time",
        listed,
        bound=callees.bound_names(compiled.code, target),
        tree=compiled.guard_manager,
        native=tuple(listed),
        ahead=compiled.result,
    )
    running.files.hold(entry, compiled.code)
    return entry


def _restored_codes(fn: Any, original: types.CodeType, count: int) -> list[types.CodeType]:
    """Returns the codes of the entries that PyTorch restored; the function's own where they are not known."""
    codes = memory.restored_of(original) or (restored.codes_of(fn, original) if count else [])
    return codes if len(codes) == count else [original] * count


def new_entry(fn: Any) -> CacheEntry:
    """Returns an entry to edit for a function that Dynamo need not have compiled: its own code, and no guards.

    Raises:
        TypeError: there is no Python function behind `fn`.
    """
    target = target_of(fn)
    return CacheEntry(target, target.code, "edited", [])


def target_of(fn: Any) -> Target:
    """Returns the function that `fn` leads to; resume functions too.

    Raises:
        TypeError: there is none.
    """
    if isinstance(fn, ResumeFunction):
        if fn.function is not None:
            return find_target(fn.function)
        return Target(fn.code, fn.globals, fn.code.co_name)
    if isinstance(fn, CacheEntry):
        return fn.target
    code = installed.resume_code(fn)
    if code is not None and code is not fn.__code__ and installed.is_resume_code(code):
        return Target(code, installed.resume_globals(fn), code.co_name)  # what makes one with free variables
    return find_target(fn)


def _as_registered(entry: CacheEntry, target: Target) -> CacheEntry:
    return dataclasses.replace(
        entry,
        target=target,
        kind="registered",
        guards=list(entry.guards),
        bound=dict(entry.bound),
        warnings=list(entry.warnings),
    )


def dispatch(fn: Any, /, *args: Any, **kwargs: Any) -> Dispatch:
    """Says which entry a call `fn(*args, **kwargs)` would take, and why each entry before it refuses.

    For a function itself, entries of every backend count; for a result of `torch.compile`, those that its backend made.

    Raises:
        TypeError: there is no Python function behind `fn`, or the arguments do not fit it.
        NotImplementedError: this PyTorch does not show its cache.
    """
    compiled_ahead = ahead_of_time.targets(fn)
    if compiled_ahead:
        listed = cache_entries(fn)
        return lookup.dispatch_among(
            compiled_ahead[0][1], args, kwargs, lambda _: listed, otherwise=ahead_of_time.WOULD_RAISE
        )
    return lookup.dispatch_among(target_of(fn), args, kwargs, cache_entries)
