"""Adds `del` statements to source that keeps values longer than the bytecode does.

The proof that compares the source with the bytecode lists the locals that keep a value longer than the bytecode does,
each with the statement at which the local still holds the value. A local is deleted in front of the statement at which
it still holds the value, if the statement does not use the local. If only a part of a call uses the value, that part
first gets a name: `f([x])` becomes `items = [x]; del x; f(items)`, and `x.item()` becomes `item = x.item; del x;
item()`. Finally, the changed source, which contains the added `del` statements, is compared with the bytecode by
another proof.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from depyf._core import KeptValue

__all__ = ["Edited", "released"]


@dataclass(frozen=True)
class Edited:
    """The source with added statements, and the original line number of each of its lines."""

    source: str
    origins: list[int]
    """For each line its number in the original text, counted from 1; 0 for an added line."""


@dataclass
class _Place:
    """A statement with its position. For each block around the statement, `way` contains the `id` of the block, and the
    index of the block's item that is or contains the statement."""

    statement: ast.stmt
    block: list[ast.stmt]
    way: tuple[tuple[int, int], ...]
    first: int
    last: int
    added: list[str] = field(default_factory=list)
    """The names that are to be deleted in front of `statement`."""

    @functools.cached_property
    def names_read(self) -> set[str]:
        """The names that the statement reads, without the names that only statements nested in it read."""
        return {name for part in _own_parts(self.statement) for name in _names_read(part)}


def released(
    source: str, kept: list[KeptValue], parameters: Mapping[str, tuple[str, ...]], *, to_none: bool
) -> Edited | None:
    """Returns the source of one function with added statements that release the values in `kept`; None if no statement
    can be added.

    Args:
        source: the source without the comments at its head.
        kept: the values that the source's code keeps too long, with lines of `source`.
        parameters: the names of the parameters of each function, by the function's name. If an argument of a call is
            moved to an assignment in front of the call, the new variable gets the name of the parameter.
        to_none: if true, `x = None` is written instead of `del x`, because the assignment is also valid if `x` is
            unbound.
    """
    function = _function(source, kept)
    if function is None:
        return None
    lines = source.split("\n")
    places = list(_places(function.body, ()))
    # If several statements are on one line, `by_line` maps the line to the first of the statements.
    by_line = {line: place for place in reversed(places) for line in range(place.first, place.last + 1)}
    loops = [place for place in places if isinstance(place.statement, (ast.For, ast.While))]
    readers = _readers(places)
    releasing: dict[str, list[_Place]] = {}
    for value in sorted(kept, key=lambda value: value.line):
        place = by_line.get(value.line)
        if place is None or not value.outermost or not value.local.isidentifier():
            continue
        if _is_read_behind(value.local, place, readers.get(value.local, ()), places, loops):
            continue
        if any(_leads_to(earlier, place) for earlier in releasing.get(value.local, ())):
            continue
        place.added.append(value.local)
        releasing.setdefault(value.local, []).append(place)
    editor = _Editor(lines, function, parameters, to_none)
    gone = [(place, editor.release(place)) for place in places if place.added]
    for place in places:
        if isinstance(place.statement, ast.Delete):
            editor.leave_out(place, {name for earlier, names in gone if _leads_to(earlier, place) for name in names})
    return editor.result()


def _function(source: str, kept: list[KeptValue]) -> ast.FunctionDef | None:
    """Returns the innermost function in `source` that contains the lines of all values in `kept`; None if there is no
    such function, or if all values in `kept` belong to nested code objects."""
    lines = [value.line for value in kept if value.outermost]
    if not lines:
        return None
    first, last = min(lines), max(lines)
    innermost = None
    blocks = [ast.parse(source).body]
    while blocks:
        around = [
            statement
            for block in blocks
            for statement in block
            if statement.lineno <= first and last <= (statement.end_lineno or 0)
        ]
        if not around:
            break
        if isinstance(around[0], ast.FunctionDef) and around[0].lineno < first:
            innermost = around[0]
        blocks = [around[0].body] if isinstance(around[0], _SCOPES) else _blocks_in(around[0])
    return innermost


# The greatest width of the added lines, in characters.
_WIDTH = 100

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)

# The most common statements that contain no other statements.
_SIMPLE = (ast.Assign, ast.Expr, ast.Delete, ast.Return)

_BLOCKS = ("body", "orelse", "finalbody")


def _blocks_in(statement: ast.stmt) -> list[list[ast.stmt]]:
    """Returns the blocks of statements that are nested in a statement; an empty list for a statement that opens a new
    scope."""
    if isinstance(statement, (*_SIMPLE, *_SCOPES)):
        return []
    blocks = [getattr(statement, name, []) for name in _BLOCKS]
    blocks += [handler.body for handler in getattr(statement, "handlers", [])]
    blocks += [case.body for case in getattr(statement, "cases", [])]
    return [block for block in blocks if block]


def _places(block: list[ast.stmt], way: tuple[tuple[int, int], ...]) -> Iterator[_Place]:
    for index, statement in enumerate(block):
        here = (*way, (id(block), index))
        inner = _blocks_in(statement)
        first = statement.lineno
        last = statement.end_lineno or first
        if inner:
            last = max(first, min(nested[0].lineno for nested in inner) - 1)
        yield _Place(statement, block, here, first, last)
        for nested in inner:
            yield from _places(nested, here)


def _readers(places: list[_Place]) -> dict[str, list[_Place]]:
    """Maps each name to the `_Place` objects whose statements read the name. A `del` does not count as a read, because
    a name that is deleted earlier is removed from the `del`."""
    readers: dict[str, list[_Place]] = {}
    for place in places:
        if not isinstance(place.statement, ast.Delete):
            for name in place.names_read:
                readers.setdefault(name, []).append(place)
    return readers


def _leads_to(earlier: _Place, place: _Place) -> bool:
    """True if `earlier` is `place`, contains `place`, or is in front of `place` in a block around it, so that every
    execution that reaches `place` has reached `earlier` before."""
    block, index = earlier.way[-1]
    return any(block == outer_block and index <= position for outer_block, position in place.way)


def _nodes(root: ast.AST) -> list[ast.AST]:
    """Returns a node and all nodes in it, without the contexts of names. The nodes have the order in which `ast.walk`
    yields them, but `_nodes` takes only a third of the time of `ast.walk`."""
    nodes = [root]
    for node in nodes:  # The list grows during the loop.
        if isinstance(node, (ast.Name, ast.Constant)):
            continue
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, ast.AST):
                nodes.append(value)
            elif type(value) is list:
                nodes += [item for item in value if isinstance(item, ast.AST)]
    return nodes


def _names_read(node: ast.AST) -> set[str]:
    """Returns the names of the variables that an expression or a statement loads or deletes."""
    return {inner.id for inner in _nodes(node) if isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Store)}


def _own_parts(statement: ast.stmt) -> list[ast.AST]:
    """Returns the expressions of a statement without the statements that are nested in it."""
    if isinstance(statement, (*_SIMPLE, *_SCOPES)):
        return [statement]
    return [child for child in ast.iter_child_nodes(statement) if isinstance(child, (ast.expr, ast.withitem))]


def _is_read_behind(
    name: str, place: _Place, readers: Sequence[_Place], places: list[_Place], loops: list[_Place]
) -> bool:
    """True if a statement that can be executed after `place` reads the value that the local `name` has at `place`.
    `readers` are the places whose statements read `name`, and `loops` are the places of loops."""
    loops_around = {loop.way[-1] for loop in loops if loop is not place and loop.way[-1] in place.way}
    for later in readers:
        if later is place:
            continue
        if not loops_around.isdisjoint(later.way) or _follows(later, place):
            return not _is_stored_between(name, place, later, places)
    return False


def _follows(later: _Place, place: _Place) -> bool:
    """True if `later` is nested in `place`, or is behind `place` in a block that contains both, directly or nested in a
    statement of this block."""
    for (block, index), (other_block, other_index) in zip(place.way, later.way):
        if block != other_block:
            return False
        if index != other_index:
            return other_index > index
    return len(later.way) > len(place.way)


def _is_stored_between(name: str, place: _Place, reader: _Place, places: list[_Place]) -> bool:
    return any(
        isinstance(between.statement, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == name for target in between.statement.targets)
        and _follows(between, place)
        and _leads_to(between, reader)
        and between is not reader
        for between in places
    )


class _Editor:
    def __init__(
        self, lines: list[str], function: ast.FunctionDef, parameters: Mapping[str, tuple[str, ...]], to_none: bool
    ) -> None:
        self._lines = lines
        self._parameters = parameters
        self._to_none = to_none
        self._function = function
        self._before: dict[int, list[str]] = {}
        self._replaced: dict[int, str | None] = {}
        """Maps the number of a changed line to the text that replaces the line; None if the line is removed."""

    @functools.cached_property
    def _taken(self) -> set[str]:
        """The names that no new local may have."""
        nodes = _nodes(self._function)
        names = {node.id for node in nodes if isinstance(node, ast.Name)}
        return names | {node.arg for node in nodes if isinstance(node, ast.arg)}

    def leave_out(self, place: _Place, names: set[str]) -> None:
        """Removes `names` from the `del` statement at `place`, because an added `del` statement on an earlier line
        deletes these names."""
        line = self._lines[place.first - 1]
        deleted = [target.id for target in getattr(place.statement, "targets", []) if isinstance(target, ast.Name)]
        if place.first != place.last or not names & set(deleted):
            return
        left = [name for name in deleted if name not in names]
        indent = line[: len(line) - len(line.lstrip())]
        self._replaced[place.first] = f"{indent}del {', '.join(left)}" if left else None

    def release(self, place: _Place) -> list[str]:
        """Adds, in front of `place.statement`, statements that release the names in `place.added`, and returns the
        released names."""
        line = self._lines[place.first - 1]
        indent = line[: len(line) - len(line.lstrip())]
        if line.lstrip().startswith(("elif ", "else", "except", "finally", "case ")):
            return []  # No statement can be put in front of this line.
        used = place.names_read
        free = [name for name in dict.fromkeys(place.added) if name not in used]
        bound = [name for name in dict.fromkeys(place.added) if name in used]
        width = _WIDTH - len(indent)
        # Names that the statement does not read are released before any part of the statement is evaluated.
        statements = self._letting_go(free, width) if free else []
        taken_out = self._take_out(place, set(bound)) if bound else []
        if taken_out:
            statements += [*taken_out, *self._letting_go(bound, width)]
        self._before[place.first] = [indent + statement for statement in statements]
        return [*free, *bound] if taken_out else free

    def _letting_go(self, names: list[str], width: int) -> list[str]:
        """Returns the statements that release names, in lines of at most `width` characters if the names are short
        enough."""
        before, between, behind = ("", " = ", " = None") if self._to_none else ("del ", ", ", "")
        groups: list[list[str]] = [[]]
        for name in names:
            groups[-1].append(name)
            if len(groups[-1]) > 1 and len(before + between.join(groups[-1]) + behind) > width:
                groups.append([groups[-1].pop()])
        return [before + between.join(group) + behind for group in groups]

    def _take_out(self, place: _Place, names: set[str]) -> list[str]:
        """Moves parts of the statement's call to assignments to new locals, and returns the assignments. The moved
        parts are the function or the arguments that use `names`, and earlier arguments that contain calls."""
        value = getattr(place.statement, "value", None)
        if not isinstance(value, ast.Call) or place.first != place.last or place.first in self._replaced:
            return []
        function = value.func
        arguments = [*value.args, *(keyword.value for keyword in value.keywords)]
        if isinstance(function, ast.Attribute) and _names_read(function) & names:
            if any(_names_read(argument) & names for argument in arguments):
                return []
            return [self._take_out_part(place, function, self._unused(function.attr))]
        if any(isinstance(argument, ast.Starred) for argument in arguments):
            return []
        wanted = [bool(_names_read(argument) & names) and not isinstance(argument, ast.Name) for argument in arguments]
        if not any(wanted) or any(isinstance(argument, ast.Name) and argument.id in names for argument in arguments):
            return []
        last = len(wanted) - 1 - wanted[::-1].index(True)
        statements: list[str] = []
        for index in range(last, -1, -1):
            argument = arguments[index]
            if not wanted[index] and not any(isinstance(node, ast.Call) for node in _nodes(argument)):
                continue
            statements.insert(0, self._take_out_part(place, argument, self._new_name(value, index)))
        return statements

    def _take_out_part(self, place: _Place, part: ast.expr, name: str) -> str:
        """Returns an assignment of `part`, an expression in the statement at `place`, to the local `name`, and replaces
        `part` in the statement by `name`. If several parts of a statement are replaced, the last part has to be
        replaced first, because a replacement keeps only the positions of the parts in front of it."""
        text = (self._replaced.get(place.first) or self._lines[place.first - 1]).encode()
        begin, end = part.col_offset, part.end_col_offset or 0
        self._replaced[place.first] = (text[:begin] + name.encode() + text[end:]).decode()
        return f"{name} = {text[begin:end].decode()}"

    def _new_name(self, call: ast.Call, index: int) -> str:
        wanted = "items"
        if isinstance(call.func, ast.Name):
            parameters = self._parameters.get(call.func.id, ())
            if index < len(parameters) and parameters[index].strip("_").isidentifier():
                wanted = parameters[index].strip("_")
        return self._unused(wanted)

    def _unused(self, wanted: str) -> str:
        name, number = wanted, 1
        while name in self._taken:
            number += 1
            name = f"{wanted}_{number}"
        self._taken.add(name)
        return name

    def result(self) -> Edited | None:
        if not any(self._before.values()):
            return None
        lines: list[str] = []
        origins: list[int] = []
        for number, line in enumerate(self._lines, 1):
            new = self._before.get(number, [])
            lines += new
            origins += [0 for _ in new]
            kept = self._replaced.get(number, line)
            if kept is not None:
                lines.append(kept)
                origins.append(number)
        return Edited("\n".join(lines), origins)
