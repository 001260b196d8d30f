"""Copies of Dynamo's cache entries for a function, in the order in which Dynamo tries the entries."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from depyf import _core, decompilation, guards, running
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
    """Transformed code, and the guards that decide whether a call may use it.

    The function `cache_entries` returns copies of Dynamo's entries. A copy does not change when Dynamo's cache changes,
    and refers to all objects that the code needs.
    """

    target: Target = field(repr=False)
    code: types.CodeType = field(repr=False)
    kind: Kind
    """The origin of the entry. Dynamo compiled an "ordinary" entry at a call. The method `register` put a "registered"
    entry in front of the ordinary entries. PyTorch itself loaded a "loaded" entry, and put it in front of the ordinary
    entries. The code of a loaded entry is known only if `cache_entries` was called with the result of `torch.compile`,
    or if a `prepare_debug` block recorded the code. `edit`, `new_entry` and `load_entry` return an "edited" entry,
    which Dynamo does not use. The function `aot_compile` compiled an "ahead of time" entry, which is in no cache."""
    guards: list[Guard] = field(repr=False)
    """The guards, in the order in which Dynamo checks them."""
    compile_id: str | None = None
    bound: dict[str, Any] = field(default_factory=dict, repr=False)
    """Maps the globals of the code that Dynamo made (graphs, resume functions, and modules that Dynamo imported) to
    their values."""
    warnings: list[str] = field(default_factory=list, repr=False)
    """Sentences about checks that were lost in edits, and about the errors that are possible without these checks."""
    backend: Any = field(default=None, repr=False)
    tree: Any = field(default=None, repr=False)
    """PyTorch's tree of guards, from which `guards` were read."""
    native: tuple[Guard, ...] = field(default=(), repr=False)
    """The guards that `tree` checks; in an edited entry, the attribute `guards` can contain other guards."""
    written: str | None = field(default=None, repr=False)
    definitions: dict[str, tuple[Any, str]] = field(default_factory=dict, repr=False)
    """If the entry was loaded from a file, maps the name of each function that the file defines to a pair of the
    function and its source."""
    resumed: list[CacheEntry] = field(default_factory=list, repr=False)
    """If the entry was loaded from a file, the entries of its resume functions in this file, which are registered and
    removed together with the entry."""
    ahead: Any = field(default=None, repr=False)
    """PyTorch's object for a function that was compiled ahead of time; None for entries of Dynamo's cache."""
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
        """The decompiled source of the code, or, if the user edited the source, the text that the user passed.

        Raises:
            ValueError: PyTorch loaded this entry, and its code is unknown.
        """
        self._need_code()
        return self.written if self.written is not None else decompilation.decompile(self.code).source

    @property
    def graphs(self) -> list[Graph]:
        """The graphs that the entry's code calls, in the order in which `co_names` of the code lists their names."""
        return callees.graphs(self.code, self.bound)

    @property
    def resume_functions(self) -> list[ResumeFunction]:
        """The resume functions that the entry's code calls after graph breaks."""
        return callees.resume_functions(self.code, self.bound, self.target)

    def check(self, /, *args: Any, **kwargs: Any) -> GuardReport:
        """Evaluates the guards for a call with the given arguments, and lists every guard that fails.

        Raises:
            TypeError: the arguments do not fit the function.
        """
        return checking.check(self, self.target.bind(args, kwargs), (args, kwargs))

    def run(self, /, *args: Any, **kwargs: Any) -> Any:
        """Runs the code with the given arguments, without checking the guards.

        Resume functions that the code calls after graph breaks run as plain Python, outside of `torch.compile`.

        Raises:
            TypeError: the arguments do not fit the function.
            ValueError: the code of the entry is unknown, or the function has free variables whose values are unknown.
            Exception: the exception that the code raised.
        """
        self._need_code()
        return self.target.call(self.runnable(), args, kwargs)

    def runnable(self) -> types.CodeType:
        """Returns the entry's code with each global in `bound` replaced by its value as a constant, so that the code
        still runs after Dynamo has deleted these globals.

        Raises:
            ValueError: PyTorch loaded this entry, and its code is unknown.
        """
        self._need_code()
        runnable = _core.bind_names(self.code, self.bound)
        running.files.hold(runnable, self.code)
        return runnable

    def manager(self) -> Any:
        """Returns PyTorch's guard manager for the guards of this entry. The first call of this method builds the guard
        manager."""
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
        """Returns a changed copy of the entry, which Dynamo does not use until the copy is registered.

        The arguments `drop` and `replace` select guards of this entry. A guard is selected by the guard itself, by its
        index in `guards`, by its text, by Dynamo's name of a value, or by a predicate. For example, the name "L['b']"
        selects all guards on the argument `b` and on values that are reached through `b`. The attribute `warnings` of
        the copy describes the checks that the edit drops.

        Args:
            source: the edited text of the attribute `source`, or the path of an edited file of a dump.
            code: a code object that replaces the entry's code.
            drop: guards to leave out.
            add: guards to add. Each guard to add is an expression over `L`, `G` and `torch`, or a function that is
                called with the dict of the frame's locals.
            replace: a mapping from guards to the conditions that replace them.
            relax: dimensions of tensors that may vary, such as {"L['x']": 0}, or a sentence such as "dimension 0 of
                L['x'] may vary".
            graph: an edited `torch.fx.GraphModule`, or a callable, that replaces the compiled graph. If the code calls
                several graphs, `graph` is a mapping from the names of graphs to their replacements.
            kernel: the path of an edited file of Inductor's output code. If the code calls several graphs, `kernel` is
                a mapping from the names of graphs to paths.
            bind: a mapping from names to their values, for names that the edited source uses and the function's module
                does not define.

        Raises:
            SyntaxError: the source or a guard is not Python; the error has the place.
            NameError: the source uses an undefined name.
            ValueError: the code cannot replace the function's code, or an argument names a guard, graph or dimension
                that does not exist.
            TypeError: an argument has a wrong type.
            OSError: a file cannot be read.
        """
        return edits.edit(self, source, code, drop, add, replace, relax, graph, kernel, bind)

    def register(self) -> Registration:
        """Makes Dynamo use this entry from the next call on, before all other entries of the function.

        The entry is used wherever Dynamo evaluates a frame of the function. If Dynamo inlined the function into another
        function, the compiled code of the other function does not look up entries.

        The method `remove` of the returned handle removes the entry, as does the end of a `with` statement. A removed
        entry can be registered again. The function `torch._dynamo.reset` removes all registered entries, too.

        Raises:
            ValueError: the code cannot replace the function's code; the message states why.
            NotImplementedError: this PyTorch cannot register entries; the message states which release can.
            RuntimeError: a guard called this method, or PyTorch itself has loaded entries of this function.
        """
        return registration.register(self)

    def save(self, path: str | Path) -> None:
        """Writes the source, the guards and the names that the code needs to a file, which `load_entry` reads.

        The file also contains the entries of the resume functions that the code calls. A warning lists the parts that
        cannot be written, such as an edited kernel, or a callable in place of a graph that is not defined in a module.
        A file of an entry has to be trusted like a module, because it contains code.

        Raises:
            ValueError: PyTorch loaded this entry, and its code is unknown.
            OSError: the file cannot be written.
        """
        saving.save(self, Path(path), cache_entries)

    def save_compiled_function(self, path: str | Path) -> None:
        """Writes a function that was compiled ahead of time, with this entry's code and guards, to a file that
        `torch.compiler.load_compiled_function` reads.

        Raises:
            ValueError: the entry was not compiled ahead of time, or PyTorch's file cannot represent the edits; the
                message states which edit.
            OSError: the file cannot be written.
        """
        ahead_file.save(self, Path(path))

    def _dispatch(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Dispatch:
        """Returns which of the function's current entries Dynamo would use for a call with the given arguments."""
        return lookup.dispatch_among(self.target, args, kwargs, cache_entries)

    def _need_code(self) -> None:
        if self.kind == "loaded" and self.code is self.target.code:
            raise ValueError(f"{self.target.name}: PyTorch loaded this entry, and does not show its code")


def cache_entries(fn: Any) -> list[CacheEntry]:
    """Returns the cache entries of a function, in the order in which Dynamo tries them.

    The following example prints the source of the first entry of a compiled function.

        compiled(x)  # Dynamo compiles the function.
        print(depyf.cache_entries(compiled)[0].source)  # This prints the source of the function's first entry.

    Args:
        fn: a function, method or module, the result of `torch.compile` for one of these, a resume function, or a
            function that was compiled ahead of time. A function that was compiled ahead of time is accepted as
            `aot_compile` returns it, or as it was loaded from a file.

    Returns:
        Copies of the entries: first the registered entries, then the entries that PyTorch loaded, then the ordinary
        entries. The list is empty for a function that was never compiled. A function that was compiled ahead of time
        has one entry for each set of inputs for which it was compiled.

    Raises:
        TypeError: there is no Python function behind `fn`.
        NotImplementedError: this PyTorch gives no access to its cache.
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
    """Returns a list of `count` code objects, one for each entry of the function that PyTorch restored. If the code
    objects are unknown, each element is the function's own code."""
    codes = memory.restored_of(original) or (restored.codes_of(fn, original) if count else [])
    return codes if len(codes) == count else [original] * count


def new_entry(fn: Any) -> CacheEntry:
    """Returns an entry with the function's own code and no guards, which can be edited even if the function was never
    compiled.

    Raises:
        TypeError: there is no Python function behind `fn`.
    """
    target = target_of(fn)
    return CacheEntry(target, target.code, "edited", [])


def target_of(fn: Any) -> Target:
    """Returns the `Target` that describes the Python function behind `fn`. `fn` can also be a resume function or a
    cache entry.

    Raises:
        TypeError: there is no Python function behind `fn`.
    """
    if isinstance(fn, ResumeFunction):
        if fn.function is not None:
            return find_target(fn.function)
        return Target(fn.code, fn.globals, fn.code.co_name)
    if isinstance(fn, CacheEntry):
        return fn.target
    code = installed.resume_code(fn)
    if code is not None and code is not fn.__code__ and installed.is_resume_code(code):
        # `fn` is a factory of Dynamo's, which makes a resume function with free variables at each call.
        return Target(code, installed.resume_globals(fn), code.co_name)
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
    """Returns the entry that Dynamo would use for a call `fn(*args, **kwargs)`, and why each entry before it refuses
    the call.

    The following example prints the entry that Dynamo would use for the next call of a compiled function.

        compiled(x)  # Dynamo compiles the function.
        print(depyf.dispatch(compiled, x))  # This prints the entry that Dynamo would use for this call.

    If `fn` is a plain function, the entries of all backends are considered. If `fn` is a result of `torch.compile`,
    only the entries that its backend compiled are considered.

    Raises:
        TypeError: there is no Python function behind `fn`, or the arguments do not fit it.
        NotImplementedError: this PyTorch gives no access to its cache.
    """
    compiled_ahead = ahead_of_time.targets(fn)
    if compiled_ahead:
        listed = cache_entries(fn)
        return lookup.dispatch_among(
            compiled_ahead[0][1], args, kwargs, lambda _: listed, otherwise=ahead_of_time.WOULD_RAISE
        )
    return lookup.dispatch_among(target_of(fn), args, kwargs, cache_entries)
