"""Creates the guards that a user adds, and describes the consequences of removing or loosening Dynamo's own guards."""

from __future__ import annotations

import ast
import re
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from depyf import weak
from depyf.guards import Guard, evaluated
from depyf.toolkit.target import Target

Condition = str | Callable[[dict[str, Any]], object]
"""A guard in the form in which a user passes it: an expression over `L`, `G` and `torch`, or a function that is called
with the dict of the frame's locals."""

Selector = Guard | int | str | Callable[[Guard], object]
"""A way to select guards: a guard, its index, its text, Dynamo's name of a value (such as "L['b']"), or a predicate.
"""

_KNOWN_NAMES = {"L", "G", "torch"}
_SENTENCE = re.compile(r"dimension (?P<dimension>-?\d+) of (?P<source>.+) may vary", re.DOTALL)


@dataclass(eq=False)
class AddedGuard(Guard):
    """A guard that a user added."""

    function: Callable[[dict[str, Any]], object] | None = None
    error: Exception | None = field(default=None, repr=False)
    """The exception that the last check raised, which counts as a failure; None if the check raised no exception."""
    loosened: tuple[Guard, frozenset[int]] | None = field(default=None, repr=False)
    """If this guard replaces Dynamo's guard on a tensor, so that some sizes may vary: a pair of the replaced guard and
    the dimensions that may vary. None for every other guard.
    """
    kept: list[weak.Reference] = field(default_factory=list, repr=False)
    """Weak references to the objects that the expression names by their identity. The guard does not hold once an
    object that its expression names has been freed."""

    def failing(self, L: Mapping[str, Any], G: Mapping[str, Any]) -> str | None:
        """Returns the text of the guard if the guard does not hold, and None if it holds. Sets the attribute `error` to
        the exception that the check raised, or to None if the check raised none."""
        self.error = None
        try:
            if any(refers() is None for refers in self.kept):
                holds = False
            elif self.function is not None:
                holds = bool(self.function(dict(L)))
            else:
                holds = all(bool(evaluated(condition, L, G)) for condition in self.conditions)
        except Exception as error:
            self.error = _without_frames(error)
            holds = False
        return None if holds else self.text

    def check(self, L: Mapping[str, Any], G: Mapping[str, Any]) -> bool:
        """True if the guard holds. A guard that raises an exception does not hold, and `error` keeps the exception."""
        return self.failing(L, G) is None


def _without_frames(error: Exception) -> Exception:
    """Removes the tracebacks from an exception and from its causes, so that keeping the exception does not keep the
    variables of frames alive."""
    chain: list[BaseException] = [error]
    for raised in chain:  # The list grows during the loop.
        raised.__traceback__ = None
        if isinstance(raised, (AttributeError, NameError)) and hasattr(raised, "obj"):
            raised.obj = None
        chain += [
            before
            for before in (raised.__cause__, raised.__context__)
            if before is not None and all(before is not known for known in chain)
        ]
    return error


def added(condition: object, target: Target, *, kind: str = "ADDED", source: str = "") -> AddedGuard:
    """Returns the guard for `condition`, which a user passed.

    Raises:
        SyntaxError: the text is not an expression.
        ValueError: the expression uses an undefined name, or a local that the function does not have.
        TypeError: the condition is neither text nor callable.
    """
    if isinstance(condition, str):
        _check_expression(condition, target)
        return AddedGuard(kind, condition, source, source or None, (condition,), quiet=False)
    if callable(condition):
        text = getattr(condition, "__qualname__", None) or type(condition).__name__
        return AddedGuard(kind, f"{text}(L)", source, source or None, (), quiet=False, function=condition)
    raise TypeError(f"a guard is an expression over L and G or a function of the locals, not {condition!r}")


def _check_expression(text: str, target: Target) -> None:
    try:
        tree = ast.parse(text.strip(), "<guard>", mode="eval")
        compile(tree, "<guard>", "eval")
    except (ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"guard {text!r}: {error}") from None
    except SyntaxError as error:
        raise SyntaxError(f"guard {text!r}: {error.msg}", ("<guard>", error.lineno, error.offset, text)) from None
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    for node in ast.walk(tree):
        if isinstance(node, ast.arguments):
            every = [*node.posonlyargs, *node.args, *node.kwonlyargs, node.vararg, node.kwarg]
            bound |= {argument.arg for argument in every if argument is not None}
    import builtins

    known = _KNOWN_NAMES | bound | vars(builtins).keys()
    unknown = sorted({node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - known)
    if unknown:
        raise ValueError(
            f"guard {text!r}: {', '.join(unknown)} is not defined: a guard reads locals as L['name'] and globals as "
            "G['name']"
        )
    variables = local_names(target)
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == "L":
            key = node.slice
            if isinstance(key, ast.Constant) and key.value not in variables:
                raise ValueError(
                    f"guard {text!r}: {target.name} has no argument or free variable {key.value!r}: it has "
                    f"{', '.join(variables) or 'none'}"
                )


def local_names(target: Target) -> list[str]:
    """Returns the names of the function's arguments and free variables, which are the locals with which a frame of the
    function begins."""
    code = target.code
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
    return [*code.co_varnames[:count], *code.co_freevars]


def only_for(instance: Any, target: Target) -> AddedGuard:
    """Returns a guard with the condition that a method is called on one particular instance."""
    try:
        reference: Callable[[], Any] = weakref.ref(instance)
    except TypeError:
        reference = lambda: instance  # noqa: E731
    name = target.code.co_varnames[0]
    starred = not target.code.co_argcount

    def is_instance(L: dict[str, Any]) -> bool:
        first = L[name][0] if starred else L[name]
        return first is reference() and first is not None

    kind = type(instance).__name__
    text = f"L[{name!r}]{'[0]' if starred else ''} is the {kind} that the entry was taken from"
    return AddedGuard("INSTANCE", text, f"L[{name!r}]", f"L[{name!r}]", (), quiet=False, function=is_instance)


def select(guards: Sequence[Guard], selector: object) -> list[Guard]:
    """Returns the guards that a selector selects. If the selector is Dynamo's name of a value, the guards that relate
    this value to other values are returned, too.

    Raises:
        ValueError: `selector` selects no guard; the message describes the guards that exist.
        TypeError: `selector` is not a `Selector`.
    """
    if isinstance(selector, Guard):
        selected = [guard for guard in guards if guard is selector]
        if not selected:
            raise ValueError(f"the guard {selector.text!r} is not one of this entry's")
        return selected
    if isinstance(selector, bool) or not (isinstance(selector, (int, str)) or callable(selector)):
        raise TypeError(
            f"a guard is named by itself, its index, a name such as \"L['x']\", or a predicate: {selector!r}"
        )
    if isinstance(selector, int):
        if not -len(guards) <= selector < len(guards):
            raise ValueError(f"no guard {selector}: the entry has {len(guards)}")
        return [guards[selector]]
    if isinstance(selector, str):
        selected = [guard for guard in guards if guard.text == selector or guard.expression == selector]
        selected = selected or [guard for guard in guards if _is_about(guard, selector)]
    else:
        selected = [guard for guard in guards if selector(guard)]
    if not selected:
        sources = dict.fromkeys(guard.source for guard in guards if guard.source)
        raise ValueError(f"no guard fits {selector!r}: there are guards on {', '.join(sources) or 'nothing'}")
    return selected


def _is_about(guard: Guard, source: str) -> bool:
    return any(is_below(name, source) for name in (guard.source, *guard.members) if name) or relates(guard, source)


def relates(guard: Guard, source: str) -> bool:
    """True if a guard that relates several values, such as "L['a'] is L['b']", reads the value with Dynamo's name
    `source`."""
    if guard.source:
        return source in guard.members
    try:
        name = ast.unparse(ast.parse(source, mode="eval"))
        trees = [ast.parse(condition.strip(), mode="eval") for condition in guard.conditions]
    except (SyntaxError, ValueError, RecursionError):
        return False
    return any(ast.unparse(node) == name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.expr))


def is_below(name: str, source: str) -> bool:
    """True if Dynamo's name `name` is the name `source`, or is the name of a value that is reached through the value
    `source`."""
    return name == source or (name.startswith(source) and name[len(source)] in ".[")


def without_members(guard: Guard, gone: str, guards: Sequence[Guard]) -> AddedGuard | None:
    """Returns a guard with the relation of `guard`, but without the value `gone` and the values that are reached
    through it.

    Returns None if fewer than two values remain, or if the relation cannot be restricted to fewer values.
    """
    left = [name for name in guard.members if not is_below(name, gone)]
    values = {guard.source: guard.value for guard in guards if guard.value is not None}
    if len(left) < 2 or any(values.get(name) is None for name in left):
        return None
    read = [str(values[name]) for name in left]
    if guard.kind == "NO_TENSOR_ALIASING":
        condition = f"len({{{', '.join(f'id({value})' for value in read)}}}) == {len(read)}"
        text = f"check_no_aliasing({', '.join(left)})"
    elif guard.kind == "OBJECT_ALIASING":
        condition = " is ".join(read)
        text = condition
    else:
        return None
    return AddedGuard(guard.kind, text, guard.source, guard.value, (condition,), members=tuple(left))


def what_is_lost(guard: Guard, because: str | None = None) -> str:
    """Returns a sentence about the errors that become possible when `guard` is no longer checked."""
    after = f"dropping {because} also dropped" if because else "dropped"
    text = " ".join(guard.text.split())
    names = " and ".join(guard.members)
    if guard.kind == "NO_TENSOR_ALIASING":
        return (
            f"{after} the check that {names} do not alias: the code was compiled for different tensors, and gives wrong "
            "results where one is given twice and written to"
        )
    if guard.kind == "OBJECT_ALIASING":
        return f"{after} the check that {names} are the same object: the code reads only one of them"
    if guard.kind == "STORAGE_OVERLAPPING":
        return f"{after} the check of which of {names} share memory: the code was compiled for just that"
    if guard.members:
        return f"{after} the check that relates {names}: {text}"
    if guard.kind == "DIMENSION_DYNAMIC_MARKING_GUARD":
        return f"{after} the check that nobody has marked dimensions of {guard.source} as dynamic or static"
    if guard.kind == "TENSOR_MATCH":
        return (
            f"{after} the check of type, dtype, device, sizes and strides of {guard.source}: the code was compiled for "
            "those, and may give wrong results for others"
        )
    return f"{after} {guard.kind} {text}: the code was compiled where it held"


def relaxations(relax: object) -> list[tuple[str, list[int]]]:
    """Returns a pair for each tensor in the argument `relax`: Dynamo's name of the tensor, and the list of its
    dimensions that may vary.

    Raises:
        ValueError: a sentence in `relax` has an unknown form.
        TypeError: `relax` has a wrong type.
    """
    if isinstance(relax, str):
        match = _SENTENCE.fullmatch(relax.strip())
        if match is None:
            raise ValueError(f"cannot read {relax!r}: expected \"dimension 0 of L['x'] may vary\"")
        return [(match["source"].strip(), [int(match["dimension"])])]
    if isinstance(relax, Mapping):
        pairs = []
        for source, dimensions in relax.items():
            wanted = [dimensions] if isinstance(dimensions, int) else list(dimensions)
            if not isinstance(source, str) or not all(type(number) is int for number in wanted):
                raise TypeError(
                    f"relax= maps a name such as \"L['x']\" to dimensions, not {source!r} to {dimensions!r}"
                )
            pairs.append((source, wanted))
        return pairs
    if isinstance(relax, Iterable):
        return [pair for item in relax for pair in relaxations(item)]
    raise TypeError(f"relax= is a mapping from tensors to dimensions or a sentence, not {relax!r}")


_SIZE = re.compile(r"\.(?:size|stride|dim)\(\d*\) == ")
_TENSOR = re.compile(r"size=(?P<size>\[[^\]]*\]), stride=(?P<stride>\[[^\]]*\])\)")


def relaxed(guard: Guard, dimensions: Sequence[int]) -> AddedGuard:
    """Returns a copy of a guard on a tensor that allows any size of the given dimensions, and any stride that follows
    from these sizes.

    Raises:
        ValueError: the guard does not check sizes, or the tensor has no dimension with one of the numbers in
            `dimensions`.
    """
    free: set[int] = set()
    if isinstance(guard, AddedGuard) and guard.loosened is not None:
        before, already = guard.loosened
        guard, free = before, set(already)
    match = _TENSOR.search(guard.text)
    if guard.kind == "TENSOR_MATCH" and not guard.conditions:
        raise ValueError(
            f"{guard.source}: only PyTorch itself can check this guard here: drop it and add what is wanted"
        )
    if guard.kind != "TENSOR_MATCH" or match is None or guard.value is None:
        raise ValueError(f"{guard.source}: {guard.text!r} says nothing of sizes that could be relaxed")
    sizes: list[int | None] = ast.literal_eval(match["size"])
    strides: list[int | None] = ast.literal_eval(match["stride"])
    x, count = guard.value, len(sizes)
    for dimension in dimensions:
        if not -count <= dimension < count:
            raise ValueError(f"{guard.source} has {count} dimensions: there is no dimension {dimension}")
        free.add(dimension % count)
    conditions = [condition for condition in guard.conditions if not _SIZE.search(condition)]
    conditions.append(f"{x}.dim() == {count}")
    conditions += [f"{x}.size({i}) == {n}" for i, n in enumerate(sizes) if n is not None and i not in free]
    for i, stride in enumerate(strides):
        if stride is None or stride < 0:
            continue
        # The stride of a dimension is proportional to the sizes of the inner dimensions, some of which may vary.
        within = [k for k in sorted(free) if k != i and _lies_within(k, stride, sizes, strides)]
        mine, theirs = [f"{x}.stride({i})"], [str(stride)]
        for k in within:
            mine.append(str(sizes[k]))
            theirs.append(f"max({x}.size({k}), 1)")
        condition = f"{' * '.join(mine)} == {' * '.join(theirs)}"
        # The stride of a dimension has no effect if the size of the dimension is 1.
        conditions.append(f"({condition} or {x}.size({i}) < 2)" if i in free or within else condition)
    shown: list[object] = [None if i in free else n for i, n in enumerate(sizes)]
    text = f"{guard.text[: match.start()]}size={shown}, strides to match)"
    loosened_guard = AddedGuard(
        guard.kind, text, guard.source, guard.value, tuple(conditions), guard.line, quiet=guard.quiet
    )
    loosened_guard.loosened = (guard, frozenset(free))
    return loosened_guard


def _lies_within(k: int, stride: int, sizes: list[int | None], strides: list[int | None]) -> bool:
    size, inner = sizes[k], strides[k]
    return bool(size) and inner is not None and inner > 0 and size is not None and stride >= inner * size > 0


def what_is_loosened(guard: Guard, dimensions: Sequence[int]) -> str:
    """Returns a sentence about the errors that become possible when the sizes of the given dimensions may vary."""
    which = ", ".join(str(dimension) for dimension in dimensions)
    return (
        f"dimension {which} of {guard.source} may vary now: the code was compiled for its size, and gives errors or wrong "
        "results where the size is written into its graph or kernels"
    )
