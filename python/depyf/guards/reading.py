"""Reads PyTorch's tree of guards into a list."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable, Mapping
from typing import Any

from depyf.compat import dynamo, guard_tree
from depyf.compat.guard_tree import Leaf, Node, Tree
from depyf.guards import dynamo_words, leaf_forms, value_paths
from depyf.guards.failures import shown
from depyf.guards.model import Guard, Guards
from depyf.source_line import Line

# The kinds of leaf guards that fix the type of a value, so that the meaning of `value[key]` is certain.
_FIX_TYPE = {"TYPE_MATCH", "ID_MATCH", "DICT_LENGTH", "DICT_VERSION", "EQUALS_MATCH"}
_CONTAINERS = {
    "DictGetItemGuardAccessor": "dict",
    "ListGetItemGuardAccessor": "list",
    "TupleGetItemGuardAccessor": "tuple",
}
# The kinds of steps on the path to a value that always read a dict or a tuple, such as the globals or the cells of a
# function.
_OF_KNOWN_TYPE = {
    "GlobalsGuardAccessor",
    "GetGenericDictGuardAccessor",
    "TypeDictGuardAccessor",
    "TypeMROGuardAccessor",
    "ClosureGuardAccessor",
    "FuncDefaultsGuardAccessor",
    "FuncKwDefaultsGuardAccessor",
}

LineOf = Callable[[str, str], "Line | None"]
"""The type of a function that gets Dynamo's name of a value and the text of a guard on this value, and returns the line
of the user's source that needs the guard, or None."""
LiveCheck = Callable[[Mapping[str, Any], Mapping[str, Any]], bool]


def read(guard_manager: Any, L: Mapping[str, Any] | None = None, line_of: LineOf | None = None) -> Guards | None:
    """Returns the guards of a cache entry.

    Args:
        guard_manager: the attribute `guard_manager` of the cache entry.
        L: local variables that the guards accept; None if they are unknown. If the keys of a dict are guarded in order,
            the required size of the dict is read from `L`, because the guard tree gives no access to the size.
        line_of: returns the user's own line that needs a guard, or None if the line was not recorded. Dynamo's text of
            a guard names only the innermost line of the stack, which can be a line of torch.

    Returns:
        The list of guards; None if this PyTorch has no tree of guards.
    """
    tree = guard_tree.read(guard_manager)
    if tree is None:
        return None
    return Guards(_Reader(tree, L, dynamo.globals_of(guard_manager), line_of).guards(), tree)


def _empty_dict(of: type) -> Any:
    """Returns an empty instance of a dict class without calling a method that the program defines; None if `of` has no
    base class of Python's that can create it."""
    base = next((base for base in of.__mro__ if base.__module__ in ("builtins", "collections")), object)
    return base.__new__(of) if issubclass(base, dict) else None


class _Reader:
    def __init__(
        self, tree: Tree, local: Mapping[str, Any] | None, scope: Mapping[str, Any] | None, line_of: LineOf | None
    ) -> None:
        self._tree = tree
        self._local = local
        self._global = scope
        self._line_of = line_of
        self._paths: dict[int, str | None] = {}
        self._above: dict[int, tuple[str, ...]] = {}
        self._members: dict[int, list[Node]] = {}
        self._related: set[int] = set()
        self._live: dict[int, LiveCheck] = {}
        self._sizes: dict[int, int] = {}
        """Maps the id() of a node to the required size of the node's dict, once the size is known."""

    def guards(self) -> list[Guard]:
        root, *nodes = self._tree.root
        self._paths[id(root)], self._above[id(root)] = None, ()
        for node in nodes:
            parent = id(node.parent)
            self._paths[id(node)] = value_paths.path(node, "L" if node.parent is root else self._paths[parent])
            self._above[id(node)] = (*self._above[parent], node.source)
        for node in (root, *nodes):
            for leaf in node.leaves:
                if leaf.relational:
                    self._members.setdefault(id(leaf.live), []).append(node)
        guards_read: list[Guard] = []
        for node in (root, *nodes):
            of_node = self._of_node(node)
            above = self._above[id(node)]
            for guard in of_node:
                guard.above = above
            if node.step is not None and node.step.kind == "key" and node.parent is not None:
                for guard in of_node:
                    guard.key_of = node.parent.source
            guards_read += of_node
        for leaf in self._tree.epilogue:
            guards_read += self._of_leaf(leaf, self._tree.root)
        return guards_read

    def _of_node(self, node: Node) -> list[Guard]:
        guards_read: list[Guard] = []
        value = self._paths[id(node)]
        if node.step is not None and value is None and (node.parent is None or self._reached(node.parent)):
            # The value of `node` has no Python expression, so only PyTorch can check it and the values that are reached
            # through it. One guard, a copy of a part of PyTorch's tree, checks the value of `node` together with the
            # values that are reached through it.
            guards_read.append(self._unreachable(node))
        guards_read += self._of_container(node, value)
        for leaf in node.leaves:
            if leaf.relational:
                if id(leaf.live) in self._related:
                    continue
                self._related.add(id(leaf.live))
            guards_read += self._of_leaf(leaf, node)
        if not guards_read and not node.children and node.step is not None and value is not None:
            above = self._paths[id(node.parent)] if node.parent is not self._tree.root else "L"
            condition = value_paths.reachable(node, value, above or "L")
            guards_read.append(Guard("REACHABLE", f"{node.source} can be read", node.source, value, (condition,)))
        return guards_read

    def _reached(self, node: Node) -> bool:
        return node.step is None or self._paths[id(node)] is not None

    def _of_container(self, node: Node, value: str | None) -> list[Guard]:
        """Returns guards that require the value of a node to be a container whose items can be read. The list is empty
        if no guard on the container is needed, for example because a leaf guard of the node already requires one type
        of the value."""
        if value is None or node.step is None:
            return []
        if node.is_dict:
            return self._of_dict(node, value)
        if not node.children or node.step.kind in _OF_KNOWN_TYPE or any(leaf.kind in _FIX_TYPE for leaf in node.leaves):
            return []
        kinds = {kind for child in node.children if child.step and (kind := _CONTAINERS.get(child.step.kind))}
        return [
            Guard("REACHABLE", f"{node.source} is a {kind}", node.source, value, (f"isinstance({value}, {kind})",))
            for kind in sorted(kinds)
        ]

    def _of_dict(self, node: Node, value: str) -> list[Guard]:
        """Returns the guards on the type and the size of a dict whose keys are guarded in order. PyTorch checks the
        type and the size together with the order of the keys, but gives no access to the required size."""
        size = self._size(node, value)
        same = () if node.type is None else (leaf_forms.same_type(value, node.type),)
        text = f"{node.source} has the same type and number of items"
        if size is None:
            live = self._live_node(node)
            return [Guard("DICT_SIZE", text, node.source, value, (), live=live)]
        return [Guard("DICT_SIZE", text, node.source, value, (*same, f"dict.__len__({value}) == {size}"))]

    def _size(self, node: Node, value: str) -> int | None:
        """Returns the size that the guards require of a dict; None if depyf cannot find the size. PyTorch's tree gives
        no access to the size, so dicts of several sizes are passed to a copy of the tree until the copy accepts one of
        them."""
        check = self._tree.part([node])
        L = dict(self._local or {})
        probe = Guard("", "", node.source, value)
        try:
            now = probe.read(L, self._global or {})
            if check(L):
                self._sizes[id(node)] = dict.__len__(now)
                return self._sizes[id(node)]
        except Exception:
            pass
        if node.type is None:
            return None
        # The smallest dict that is tried has just enough items to contain every position on which there is a guard.
        steps = [child.step for child in node.children if child.step is not None]
        least = 1 + max((int(step.argument) for step in steps if step.kind in ("key", "value")), default=-1)
        for size in range(least, least + 64):
            try:
                example = _empty_dict(node.type)
                for i in range(size):
                    dict.__setitem__(example, i, None)
                local = self._local_with(node, example)
                if local is None:
                    return None
                if check(local):
                    self._sizes[id(node)] = size
                    return size
            except Exception:
                return None
        return None

    def _local_with(self, node: Node, value: Any) -> dict[str, Any] | None:
        """Returns local variables for which PyTorch's tree reads `value` as the value of `node`; None if depyf cannot
        create the objects on the path to `value`.

        The objects on the path to `value` have the classes that the guard tree states, and each contains only the item
        or attribute through which the next object is reached. The objects are created without calling their `__init__`,
        which could be code of the program.
        """
        while node.step is not None and node.parent is not None:
            step, owner = node.step, node.parent
            if hasattr(owner.type, "__del__"):
                return None
            if step.kind == "FrameLocalsGuardAccessor" or owner.step is None:
                return {ast.literal_eval(step.argument): value}
            if step.kind == "GetGenericDictGuardAccessor" and owner.type is not None and type(value) is dict:
                made_up: Any = object.__new__(owner.type)
                object.__getattribute__(made_up, "__dict__").update(value)
            elif step.kind == "GetAttrGuardAccessor" and owner.type is not None:
                made_up = object.__new__(owner.type)
                object.__getattribute__(made_up, "__dict__")[step.argument] = value
            elif step.kind == "DictGetItemGuardAccessor":
                made_up = _empty_dict(owner.type or dict)
                if made_up is None:
                    return None
                dict.__setitem__(made_up, ast.literal_eval(step.argument), value)
            elif step.kind == "value" and owner.type is not None and id(owner) in self._sizes:
                made_up = _empty_dict(owner.type)
                if made_up is None:
                    return None
                for position in range(self._sizes[id(owner)]):
                    dict.__setitem__(made_up, position, value if position == int(step.argument) else None)
            else:
                return None
            node, value = owner, made_up
        return None

    def _unreachable(self, node: Node) -> Guard:
        text = f"{node.source}: all that is guarded of it"
        check = self._tree.part(node)

        def live(L: Mapping[str, Any], G: Mapping[str, Any]) -> bool:
            return check(dict(L))

        self._live.update((id(above), live) for above in node)
        return Guard("REACHABLE", text, node.source, None, (), live=live)

    def _live_node(self, node: Node) -> LiveCheck:
        check = self._tree.part([node])
        return lambda L, G: check(dict(L))

    def _of_leaf(self, leaf: Leaf, node: Node) -> list[Guard]:
        members = self._members.get(id(leaf.live), []) if leaf.relational else []
        paths_of_members = [self._paths[id(member)] for member in members] if members else []
        conditions = leaf_forms.conditions(leaf, node, self._paths[id(node)], paths_of_members)
        if len(leaf.texts) < 2:
            words = dynamo_words.read(leaf.texts[0] if leaf.texts else "")
            guards_read = [self._guard(leaf, node, tuple(conditions or ()), words, words.condition)]
        elif conditions is not None and len(conditions) == len(leaf.texts):
            # Some leaf guards, such as the guard on symbolic shapes, check several conditions, and have one text for
            # each condition; each condition becomes a `Guard` of its own.
            guards_read = [
                self._guard(leaf, node, (condition,), words, words.condition)
                for condition, words in zip(conditions, map(dynamo_words.read, leaf.texts), strict=True)
            ]
        else:
            all_words = [dynamo_words.read(text) for text in leaf.texts]
            text = "; ".join([words.condition for words in all_words])
            guards_read = [self._guard(leaf, node, tuple(conditions or ()), all_words[0], text)]
        if members:
            names = tuple(dict.fromkeys([member.source for member in members]))
            for guard in guards_read:
                guard.members = names
        return guards_read

    def _guard(
        self, leaf: Leaf, node: Node, conditions: tuple[str, ...], words: dynamo_words.Words, text: str
    ) -> Guard:
        """Returns the `Guard` for a leaf guard with the given conditions. `words` are the parts into which Dynamo's
        text of the leaf guard was split, and `text` becomes the text of the `Guard`."""
        if words.note and leaf.epilogue:
            text = f"{text}  # {words.note}"
        value = self._paths[id(node)]
        is_of_value = node.step is not None
        guard = Guard(leaf.kind, text, node.source if is_of_value else "", value, conditions)
        guard.line = self._line(guard, words)
        guard.hint = words.hint or (self._object_of(guard) if leaf.kind == "ID_MATCH" else "")
        guard.quiet = is_of_value or leaf.relational or leaf.epilogue
        if not conditions:
            guard.live = self._live_leaf(leaf, node, value)
        return guard

    def _object_of(self, guard: Guard) -> str:
        """Returns a text that describes the object whose identity a guard checks; "" if the object cannot be read, or
        is one that Dynamo itself has stored."""
        if guard.value is None or self._local is None or guard.source.startswith("G['__"):
            # The objects in globals such as `G['__import_torch']` were stored by Dynamo itself, and never change. A
            # guard on such an object never fails, so no text has to describe the object.
            return ""
        with contextlib.suppress(Exception):
            return shown(guard.read(self._local, self._global or {}))
        return ""

    def _line(self, guard: Guard, words: dynamo_words.Words) -> Line | None:
        if self._line_of is not None:
            line = self._line_of(guard.source, words.condition)
            if line is not None:
                return line
        # If Dynamo's text names a place, but has no text of the line, the place is in Dynamo's own code.
        return Line(words.file, words.line, words.line_text) if words.line and words.line_text else None

    def _live_leaf(self, leaf: Leaf, node: Node, value: str | None) -> LiveCheck:
        if node.step is None and leaf.callable:
            return lambda L, G: leaf.check(dict(L))
        if value is not None and leaf.callable and not leaf.relational:
            reader = Guard("", "", node.source, value)
            return lambda L, G: leaf.check(reader.read(L, G))
        # The guard cannot be called by itself: it relates several values, or depyf cannot read its value. In place of
        # the guard, a part of PyTorch's tree that contains the guard is checked, or the whole tree.
        return self._live.get(id(node)) or (lambda L, G: self._tree.check(dict(L)))
