"""Measures the time that checking the guards of each cache entry of a function takes on the inputs of a call. Also
measures the time that the transformed code takes before it calls its first graph."""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Callable
from typing import Any

from depyf import _core, guards, names
from depyf.compat import cache, guard_tree, installed
from depyf.costs.model import EntryCost, GuardCosts
from depyf.guards import check_times, timing
from depyf.toolkit import CacheEntry, cache_entries
from depyf.toolkit.entries import target_of
from depyf.toolkit.target import Target

_HARMLESS = (
    "LOAD_", "COPY", "RESUME", "PUSH_NULL", "BINARY_SUBSCR", "BINARY_OP", "STORE_FAST", "SWAP", "BUILD_", "LIST_EXTEND",
    "PRECALL", "CACHE", "MAKE_CELL", "POP_TOP", "NOP", "KW_NAMES", "EXTENDED_ARG", "NOT_TAKEN", "UNPACK_SEQUENCE",
    "ROT_", "DUP_TOP", "DELETE_FAST",
)  # fmt: skip
"""The name prefixes of harmless instructions, which change only values of the frame itself. Reading an item, as in
`x[0]`, can run code of the program, but counts as harmless: checking the guards reads the same items."""
_HAS_NULL = "PUSH_NULL" in dis.opmap
_GRAPH, _READS, _OTHER = "a graph", "a function of Dynamo's that reads", "another function"


def guard_costs(fn: Any, /, *args: Any, **kwargs: Any) -> GuardCosts:
    """Measures how long Dynamo takes to find the compilation for a call `fn(*args, **kwargs)`.

    Of the code of the program, only the transformed code of the entry that accepts the call is run, and only up to its
    first graph. If the transformed code does more than read its inputs before it calls a graph, the transformed code is
    not run at all.

    For example:

        compiled(x)
        print(depyf.guard_costs(compiled, x))  # This prints the costs of the guards.

    Args:
        fn: a function, module or method that was compiled, or the result of `torch.compile` for it.
        args: the arguments of the call.
        kwargs: the keyword arguments of the call.

    Returns:
        The cost of the guards of each cache entry, the cost of each group of guards, and a list of guards that other
        guards imply.

    Raises:
        TypeError: there is no Python function behind `fn`, or the arguments do not fit it.
        NotImplementedError: this PyTorch gives no access to its cache, or has no trees of guards that can be copied.
    """
    target = target_of(fn)
    local_variables = target.bind(args, kwargs)
    costs = GuardCosts(target.name)
    is_served = False
    for entry in cache_entries(fn):
        if entry.kind == "ordinary" and not cache.same_backend(entry.backend, target.backend):
            continue
        cost = _entry_cost(entry, local_variables)
        cost.is_passed = not cost.accepts and not is_served
        if not is_served:
            costs.lookup_microseconds += cost.microseconds
            costs.passed += cost.is_passed
            if cost.accepts:
                _add_pregraph(cost, entry, target, args, kwargs)
        is_served = is_served or cost.accepts
        costs.entries.append(cost)
    if not is_served:
        costs.passed = len(costs.entries)
    return costs


def _entry_cost(entry: CacheEntry, local_variables: dict[str, Any]) -> EntryCost:
    tree = guard_tree.read(entry.manager())
    if tree is None:
        raise NotImplementedError("this release of PyTorch has no trees of guards that can be copied and checked")
    time, accepts = check_times.measured(tree, local_variables)
    cost = EntryCost(
        entry.compile_id or entry.kind, accepts, is_passed=False, microseconds=time.microseconds, groups=time.groups
    )
    cost.redundant = guards.redundant(entry.guards)
    return cost


class _ReachedGraphError(Exception):
    """Raised to end transformed code at its first call of a graph."""


def _reach(*args: object, **kwargs: object) -> None:
    raise _ReachedGraphError


def _add_pregraph(
    cost: EntryCost, entry: CacheEntry, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    if entry.kind == "loaded":
        cost.why_no_pregraph = "PyTorch loaded the entry, and does not show its code"
        return
    cost.why_no_pregraph = _why_not_run(entry.code)
    if cost.why_no_pregraph:
        return
    stubs = {
        name: _reach if names.compiled_fn_number(name) is not None else value for name, value in entry.bound.items()
    }
    try:
        call = target.prepared(_core.bind_names(entry.code, stubs), args, kwargs)
    except ValueError as error:
        cost.why_no_pregraph = str(error)
        return
    bare = functools.partial(_reach, *call.args, **call.keywords)
    if not _ends_at_graph(call):
        cost.why_no_pregraph = "its code ends before it calls a graph"
        return
    until_graph, nothing = timing.microseconds([functools.partial(_ends_at_graph, made) for made in (call, bare)])
    cost.pregraph_microseconds = max(0.0, until_graph - nothing)


def _ends_at_graph(call: Callable[[], object]) -> bool:
    try:
        call()
    except _ReachedGraphError:
        return True
    return False


def _why_not_run(code: types.CodeType) -> str:
    """Returns the reason why transformed code must not be run up to its first graph; "" if the code before the graph
    only reads values."""
    callees: list[str] = []  # The kinds of the callees that are pushed, but not yet called; the innermost is last.
    reading_locals: set[str] = set()
    at_callee = False  # True if the last instruction loaded the callee or, as for `module.f`, a part of it.
    for instruction in dis.get_instructions(code):
        name, argument = instruction.opname, instruction.argval
        if name.startswith("CALL") and name != "CALL_INTRINSIC_1":
            callee = callees.pop() if callees else _OTHER
            if callee == _GRAPH:
                return ""
            if callee != _READS:
                return "its code calls other functions before it calls a graph"
        elif not name.startswith(_HARMLESS):
            return "its code does more than to read inputs before it calls a graph, or calls none"
        elif name.startswith("COPY"):
            continue
        elif name == "STORE_FAST":
            (reading_locals.add if at_callee and callees[-1] == _READS else reading_locals.discard)(argument)
        # From Python 3.11 on, a NULL is pushed beside each callee. Before Python 3.11, any global that is loaded can be
        # a callee.
        is_new = name in ("PUSH_NULL", "LOAD_METHOD") or "NULL" in instruction.argrepr
        is_new = is_new or (not _HAS_NULL and name == "LOAD_GLOBAL")
        if is_new:
            callees.append(_OTHER)
        at_callee = is_new or (at_callee and name.startswith("LOAD_"))
        if at_callee and name != "PUSH_NULL":
            callees[-1] = _kind_of_callee(name, argument, reading_locals)
            at_callee = callees[-1] != _GRAPH and not name.startswith("LOAD_FAST")
    return "its code calls no graph"


def _kind_of_callee(name: str, argument: object, reading_locals: set[str]) -> str:
    """Returns `_GRAPH`, `_READS` or `_OTHER`, the kind of the callee that an instruction loads."""
    if not isinstance(argument, str):
        return _OTHER
    if name.startswith("LOAD_FAST"):
        return _READS if argument in reading_locals else _OTHER
    if name == "LOAD_GLOBAL":
        return _GRAPH if names.compiled_fn_number(argument) is not None else _OTHER
    return _READS if name in ("LOAD_ATTR", "LOAD_METHOD") and argument in installed.READING_CALLS else _OTHER
