"""Builds an explanation of a function from its cache entries, and from the facts that blocks of `prepare_debug`
recorded."""

from __future__ import annotations

import inspect
import re
import types
from pathlib import Path
from typing import Any

from depyf import _core, decompilation, decompiler, dump, function_names, guards, names, resume_source
from depyf.capture import memory
from depyf.compat import ahead, cache, callables, compiled, dynamo, installed, precompiled, restored
from depyf.costs import guard_costs
from depyf.explanation.model import Entry, Explanation, Graph, Resume
from depyf.guards import process_state, texts, unchecked
from depyf.guards.frontier import frontier, together
from depyf.session import Frame

_PRECOMPILED = (
    "torch.compiler.precompile captured it without Dynamo, so that there are neither guards nor transformed code. depyf.decompile "
    "shows the function of the program, and `depyf open FILE` all that is in its file."
)
_ASK = "depyf.prepare_debug, entered before the function is compiled, records it"


def explain(fn: Any, /, *args: Any, **kwargs: Any) -> Explanation:
    """Explains what code and graphs torch.compile generated for a function, as far as the code and graphs still exist.

    Args:
        fn: a compiled function, module or method, as the result of torch.compile or as the original function. `fn` can
            also be a function that was compiled ahead of time, as `aot_compile` returns it or as it was loaded from a
            file.
        args: the arguments of a call, if the cost of the call's guards is to be measured (see `depyf.guard_costs`);
            without arguments nothing is measured.
        kwargs: the keyword arguments of the call.

    Returns:
        The explanation, which contains the cache entries with their guards, code, graphs and resume functions, the
        reasons why the entries were compiled, and the conditions that a call must meet so that it is not compiled
        again. Facts that only `prepare_debug` can record are included if a `prepare_debug` block recorded them;
        otherwise these facts are reported as missing.

    Raises:
        TypeError: there is no Python code behind `fn`, or the arguments do not fit the parameters of `fn`.

    Example:

        compiled(x)
        print(depyf.explain(compiled))
    """
    compiled_ahead = ahead.functions(fn)
    if compiled_ahead:
        return _Builder("auto").ahead_of_time(compiled_ahead)
    code = decompiler.find_code(fn)
    if precompiled.loaded_function(fn) is not None:
        explanation = Explanation(code.co_name, code.co_filename, code.co_firstlineno, "", "auto")
        explanation.nothing = _PRECOMPILED
        return explanation
    dynamic = compiled.dynamic_of(fn)
    around = callables.code_around(fn)
    explanation = _Builder("auto" if dynamic is None else str(dynamic), fn).function(around or code, code)
    if around is not None and explanation.entries:
        name = function_names.of_callable(fn) or code.co_name
        explanation.title = Frame("", code.co_name, code.co_filename, code.co_firstlineno, name=name).title
    if (args or kwargs) and explanation.entries:
        explanation.guard_costs = guard_costs(fn, *args, **kwargs)
    return explanation


class _Builder:
    def __init__(self, dynamic: str, given: Any = None) -> None:
        self._dynamic = dynamic
        self._given = given
        self._done: set[int] = set()

    def function(self, code: types.CodeType, user: types.CodeType) -> Explanation:
        """Returns the explanation of a function or a resume function. `user` is the code of the user's own function,
        which a resume function continues."""
        self._done.add(id(code))
        live = sorted(dynamo.live_entries(code), key=lambda entry: _order(entry.compile_id))
        restored_entries = self._restored(code)
        backend = next((name for entry in live if (name := compiled.backend_name(entry.backend))), "")
        explanation = Explanation(code.co_name, code.co_filename, code.co_firstlineno, backend, self._dynamic)
        explanation.title = _title(code, [*restored_entries, *live])
        explanation.entries = [self._restored_entry(entry, user, i) for i, entry in enumerate(restored_entries)]
        if not live:
            if not restored_entries:
                explanation.nothing, explanation.failed = _why_nothing(code)
            return explanation
        explanation.failed = _limit_reached(code, live)
        reasons = _reasons(code, len(live))
        explanation.entries += [self._entry(entry, user, reasons[i], first=i == 0) for i, entry in enumerate(live)]
        explanation.frontier = together([entry.frontier for entry in explanation.entries], cache.recompile_limit())
        return explanation

    def _restored(self, code: types.CodeType) -> list[dynamo.Live]:
        """Returns the cache entries of a function that PyTorch restored from its cache of an earlier process; an empty
        list if the code of the entries is unknown."""
        managers = cache.restored(code)
        codes = memory.restored_of(code) or (restored.codes_of(self._given, code) if managers else [])
        if len(codes) != len(managers):
            return []
        return [dynamo.Live(None, manager, its) for manager, its in zip(managers, codes)]

    def _restored_entry(self, live: dynamo.Live, user: types.CodeType, number: int) -> Entry:
        entry = self._entry(live, user, [], first=True)
        seen = memory.of(live.code)
        entry.compile_id = f"restored/{number}" if seen is None else seen.frame.compile_id
        entry.why = [
            "restored from Dynamo's cache of an earlier process (torch._dynamo.config.caching_precompile), and tried before the others"
        ]
        return entry

    def ahead_of_time(self, functions: list[ahead.Compiled]) -> Explanation:
        """Returns the explanation of a function that was compiled ahead of time, with an entry for each set of inputs
        for which the function was compiled."""
        first = functions[0].original
        assert first is not None
        explanation = Explanation(
            first.co_name, first.co_filename, first.co_firstlineno, functions[0].backend_name, self._dynamic
        )
        explanation.title = _title(first, list(functions))
        for number, live in enumerate(functions):
            entry = self._entry(live, live.original or first, [], first=True)
            entry.compile_id = f"ahead/{number}" if entry.compile_id == "?" else entry.compile_id
            entry.backend = live.backend_name
            if not entry.unchecked and live.original is not None:
                entry.unchecked = unchecked.of_values(guards.read(live.guard_manager) or (), live.original)
            entry.why = [
                "compiled ahead of time, by aot_compile: where its guards refuse a call, PyTorch raises and compiles nothing"
            ]
            explanation.entries.append(entry)
        return explanation

    def _entry(self, live: dynamo.Live, user: types.CodeType, reasons: list[str], *, first: bool) -> Entry:
        seen = memory.of(live.code)
        frame = seen.frame if seen is not None else None
        read = guards.read(live.guard_manager, line_of=None if seen is None else seen.line_of)
        lines = texts.tree(dynamo.guards_text(live.guard_manager))
        result = decompilation.decompile(live.code)
        entry = Entry(
            live.compile_id or "?",
            compiled.backend_name(live.backend),
            [],
            frame.seconds if frame is not None else None,
            _guard_source(read, lines),
            lines,
            result.source,
            result.proved,
            result.reason,
        )
        if frame is not None:
            entry.failures, entry.breaks, entry.symbols = [*frame.failures], [*frame.breaks], [*frame.symbols]
            entry.at_run_time = dump.runtime_rows(frame)
            entry.unchecked = [*frame.unchecked]
        else:
            entry.missing.append(
                f"graph breaks, symbolic sizes with the causes of their bounds, and the time of the compilation: {_ASK}"
            )
        entry.frontier = frame.frontier if frame is not None and frame.frontier else frontier(read or ())
        if first and frame is not None and frame.failures:
            entry.why = ["compiled again, after the earlier entries were dropped"]
        elif first:
            entry.why = ["compiled at the first call"]
        elif entry.failures:
            entry.why = ["compiled again because guards failed"]
        else:
            # Without a `prepare_debug` block nothing is known about the call that was compiled: PyTorch keeps only its
            # message about each earlier entry that rejected the call.
            entry.why = [f"compiled again because, in PyTorch's words, {reason}" for reason in reasons] or [
                "compiled again because no existing entry accepted the call"
            ]
        self._add_what_it_calls(entry, live, user, seen)
        return entry

    def _add_what_it_calls(
        self, entry: Entry, live: dynamo.Live, user: types.CodeType, seen: memory.Seen | None
    ) -> None:
        called = dict.fromkeys(name for nested in names.nested_codes(live.code) for name in nested.co_names)
        for name in called:
            if names.compiled_fn_number(name) is not None:
                entry.graphs.append(_graph(name, live.find_global(name), seen))
            elif installed.is_resume_name(name):
                entry.resumes.append(self._resume(name, live.find_global(name), user))

    def _resume(self, name: str, value: object, user: types.CodeType) -> Resume:
        code = installed.resume_code(value)
        if code is None:
            return Resume(name, None, "", None, "The function no longer exists.")
        line = resume_source.line_of(name, code, user)
        source = resume_source.marked(dump.original_source(user), user, code.co_filename, line)
        if id(code) in self._done:
            return Resume(
                name, line, source, None, "Its cache entries are described above, at the first call of the function."
            )
        return Resume(name, line, source, self.function(code, user))


def _order(compile_id: str | None) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", compile_id or ""))


def _guard_source(read: guards.Guards | None, lines: list[str]) -> str:
    if read is None:
        comments = (f"#   {names.one_line(line)}" for line in lines)
        return "\n".join(["# This release of PyTorch keeps no tree of guards. Its own text of the guards:", *comments])
    return guards.source(read, "guard_0")


def _reasons(code: types.CodeType, count: int) -> list[list[str]]:
    """Returns, for each compilation, PyTorch's reasons why the earlier compilations could not be used for the call that
    was compiled. The compilation with the index n has n reasons, or no reasons if PyTorch did not record all
    reasons."""
    told_by_torch = [
        texts.recompile_reasons(failure)[0].partition("\n")[0].strip() for failure in compiled.failures(code)
    ]
    told_by_torch = [
        process_state.reason_in_words(" ".join(reason.partition("  # ")[0].split())) + _comment(reason)
        for reason in told_by_torch
    ]
    if len(told_by_torch) != count * (count - 1) // 2:
        return [[], *([[]] * (count - 1))]
    reasons_of_entries: list[list[str]] = []
    for i in range(count):
        reasons_of_entries.append(told_by_torch[:i])
        told_by_torch = told_by_torch[i:]
    return reasons_of_entries


def _comment(reason: str) -> str:
    _, sign, comment = reason.partition("  # ")
    return f" # {' '.join(comment.split())}" if sign else ""


def _graph(name: str, value: object, seen: memory.Seen | None) -> Graph:
    short = names.shorten(name)
    if seen is not None:
        for file in seen.frame.files("Captured_Graph"):
            try:
                text = (Path(seen.session.directory) / file).read_text(encoding="utf-8")
            except OSError:
                continue
            return Graph(short, _core.graph_body(text, short, ""))
    kept = None if value is None else compiled.graph_text(value)
    if kept is None:
        return Graph(short, None, f"the backend does not keep the graph; {_ASK}")
    return Graph(short, dump.graph_class(kept, short))


# The following functions describe a function as a whole, and the reasons why it has no cache entries.


def _title(code: types.CodeType, live: list[dynamo.Live]) -> str:
    """Returns the title of a function, with the name that a `prepare_debug` block recorded for the function, if there
    is one."""
    seen = next((seen.frame for entry in live if (seen := memory.of(entry.code)) is not None), None)
    name = function_names.of_code(code) if seen is None or not seen.name else seen.name
    frame = Frame("", code.co_name, code.co_filename, code.co_firstlineno, name=name)
    frame.is_resume = installed.is_resume_code(code)
    return frame.title


def _limit_reached(code: types.CodeType, live: list[dynamo.Live]) -> list[str]:
    """Returns sentences about the recompilation limit if a `prepare_debug` block recorded that the entries in `live`
    use up the limit; otherwise an empty list."""
    ids = {entry.compile_id for entry in live}
    for frame in reversed(memory.attempts(code)):
        if frame.exceeded is not None and set(frame.exceeded.compile_ids) == ids:
            return [dump.headline(frame), *(f"  {line}" for line in dump.details(frame))]
    return []


def _why_nothing(code: types.CodeType) -> tuple[str, list[str]]:
    """Returns the reason why a function has no cache entries, and further lines about the reason."""
    for frame in reversed(memory.attempts(code)):
        return f"Dynamo no longer compiles it: {dump.headline(frame, 'it')}", dump.details(frame)
    return _no_attempt(code), []


def _no_attempt(code: types.CodeType) -> str:
    callers = [] if installed.is_resume_code(code) else _callers(code)
    if callers:
        return f"it was inlined into {', '.join(callers)}, and has no compilation of its own."
    rule = compiled.skip_reason(code)
    if rule is not None:
        return f"Dynamo skips it according to its own rules ({rule})."
    if compiled.seen_by_dynamo(code):
        return (
            "Dynamo looked at it and compiled nothing, because it contains nothing for a graph, or because Dynamo skipped it. "
            "The index.md of a depyf.prepare_debug block that saw it states which and why; this text also states it as long as "
            "the session of that block is alive."
        )
    return "it was never called under torch.compile, or torch._dynamo.reset() was called afterwards."


def _callers(code: types.CodeType) -> list[str]:
    """Returns the compiled functions whose guards or graphs name source lines of a function, because the function was
    inlined into the compiled functions."""
    own = {line for _, _, line in code.co_lines() if line is not None}
    file = Path(code.co_filename).name
    pattern = re.compile(rf"\b{re.escape(file)}:(\d+) in {re.escape(code.co_name)}\b")
    in_graph = re.compile(rf"# File: {re.escape(code.co_filename)}:(\d+) in {re.escape(code.co_name)}\b")
    callers: dict[str, None] = {}
    for caller in dynamo.compiled_codes():
        if caller is code or installed.is_resume_code(caller):
            continue
        for live in dynamo.live_entries(caller):
            text = dynamo.guards_text(live.guard_manager)
            hits = {int(number) for number in pattern.findall(text)}
            called = [name for name in live.code.co_names if names.compiled_fn_number(name) is not None]
            for graph in [_graph(name, live.find_global(name), memory.of(live.code)) for name in called]:
                hits |= {int(number) for number in in_graph.findall(graph.source or "")}
            if hits & own:
                place = inspect.getmodulename(caller.co_filename) or caller.co_filename
                callers[f"{function_names.of_code(caller)} ({place}:{caller.co_firstlineno})"] = None
    return list(callers)
