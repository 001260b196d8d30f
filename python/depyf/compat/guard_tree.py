"""Reads the tree in which Dynamo keeps a compilation's guards, through PyTorch's own objects.

If a release of PyTorch lacks an optional method of the tree, the result of the method is taken to be empty. `read`
returns None for releases whose entries have no tree (before 2.4, `check_fn` is a function), and for releases whose tree
cannot be copied (before 2.6).
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from depyf import weak
from depyf.compat import private
from depyf.compat.private import guarded

_MODULE = "torch._C._dynamo.guards"
# The names of the guards that relate several values, for releases whose Python modules do not contain
# `RelationalGuard`, the base class of these guards.
_RELATIONAL = {"NO_TENSOR_ALIASING", "OBJECT_ALIASING", "TENSOR_ALIASING", "STORAGE_OVERLAPPING"}
# Matches the printed text of an accessor; the text in parentheses is the key, attribute or index that the accessor
# reads.
_ARGUMENT = re.compile(r"^(\w+)(?:<(?:\w+::)?(\w+)>)?\((.*)\)$", re.DOTALL)
_FRAME_LOCAL = re.compile(r"^key=(.*), framelocals_idx=\d+$", re.DOTALL)


@dataclass(frozen=True)
class Step:
    """The step by which a guard manager reaches its value from the value of the manager above it."""

    kind: str
    """The accessor's class, such as `DictGetItemGuardAccessor`; "key" and "value" for the two halves of a dict's item;
    "lambda" for a Python function of Dynamo's own."""
    argument: str = ""
    """The argument as the accessor prints it: the repr of a key, the name of an attribute, or an index."""


@dataclass
class Leaf:
    """A leaf guard, which checks the value of one guard manager."""

    kind: str
    """The guard's class in PyTorch's extension module, such as TENSOR_MATCH."""
    texts: list[str]
    """The guard's conditions as Dynamo writes them, with the line of source that needs them as a comment."""
    live: Any
    """PyTorch's own object for the guard. The guard tree must be kept alive as long as PyTorch's object for the guard
    is used."""
    callable: bool
    relational: bool
    epilogue: bool = False

    def check(self, value: Any) -> bool:
        """True if PyTorch's own guard accepts a value. For a guard of the root, the value is the dict of local
        variables."""
        return bool(self.live(value))


@dataclass
class Node:
    """A guard manager: a node of the guard tree, which has the leaf guards on one value."""

    source: str
    """Dynamo's name for the value, such as `L['x']`."""
    type_reference: Callable[[], Any]
    """A weak reference to the type that the value had when the guards were built. PyTorch removes a cache entry when a
    class that its guards refer to is freed."""
    is_dict: bool
    """True if the guard manager is a `DictGuardManager`, which guards keys and values of a dict by the positions of the
    items, and so guards the order of the keys."""
    step: Step | None
    leaves: list[Leaf] = field(default_factory=list)
    children: list[Node] = field(default_factory=list)
    manager: Any = None
    parent: Node | None = None

    @property
    def type(self) -> type | None:
        """The type that the value had when the guards were built; None if the node is the root, or if the type has been
        freed."""
        kind: type | None = self.type_reference()
        return kind

    def __iter__(self) -> Iterator[Node]:
        """Yields this node and all nodes below it in the order in which PyTorch checks them, each node before its
        children."""
        todo = [self]
        while todo:
            node = todo.pop()
            yield node
            todo += reversed(node.children)


@dataclass
class Tree:
    """The guards of one compilation. The tree keeps PyTorch's objects alive."""

    root: Node
    epilogue: list[Leaf]
    """The guards on the local variables that are checked after all other guards."""
    manager: Any

    def check(self, local: dict[str, Any]) -> bool:
        """True if PyTorch's guard manager accepts a call with these local variables."""
        return bool(self.manager.check(local))

    def check_verbose(self, local: dict[str, Any]) -> tuple[bool, list[str], list[tuple[str, int, str]]]:
        """Returns a triple: True if PyTorch's guard manager accepts a call with these local variables; the texts of the
        first guard that fails; and the lines of the user's code that need this guard, as (file, line, text)."""
        verdict = self.manager.check_verbose(local)
        stack = [
            (frame.filename, frame.lineno, frame.line or "") for frame in getattr(verdict, "user_stack", None) or ()
        ]
        return bool(verdict.result), list(verdict.verbose_code_parts), stack

    def part(self, nodes: Iterable[Node]) -> Callable[[dict[str, Any]], bool]:
        """Returns a function that checks the guards of these nodes and of their ancestors in C++, on a copy of the
        tree.

        A check in C++ is needed for values that depyf cannot read itself. The copy of the tree also has the guards on
        the state of the process; if guards on this state fail, the returned function returns True.
        """
        wanted = set()
        for node in nodes:
            ancestor: Node | None = node
            while ancestor is not None and ancestor.source not in wanted:
                wanted.add(ancestor.source)
                ancestor = ancestor.parent
        clone = self.manager.clone_manager(lambda manager: manager.get_source() in wanted)
        root = self.manager.clone_manager(lambda manager: manager is self.manager)
        return lambda local: bool(clone.check(local)) or not root.check(local)

    def copy_of(self, nodes: Iterable[Node]) -> Callable[[dict[str, Any]], bool]:
        """Returns the `check` method of a copy of the tree that has only these nodes.

        The ancestors of each node have to be among `nodes`. The copy of the tree counts its own failures, so that its
        checks do not change the order in which the original tree checks values. Every copy of the tree has the guards
        of the root.
        """
        managers = {id(node.manager) for node in nodes}
        clone = self.manager.clone_manager(lambda manager: manager is self.manager or id(manager) in managers)
        check: Callable[[dict[str, Any]], bool] = clone.check
        return check


def leaf_types() -> list[str]:
    """Returns the names of the classes of leaf guards that this PyTorch has, including relational guards."""
    base = private.get(f"{_MODULE}:LeafGuard")
    return _types(base, {base, private.get(f"{_MODULE}:RelationalGuard")})


def accessor_types() -> list[str]:
    """Returns the names of the classes of accessors that Python code can access in this PyTorch."""
    base = private.get(f"{_MODULE}:GuardAccessor")
    return _types(base, {base})


def _types(base: Any, abstract: set[Any]) -> list[str]:
    module = sys.modules.get(_MODULE)
    if base is None or module is None:
        return []
    members = [getattr(module, name) for name in dir(module)]
    return sorted(
        member.__name__
        for member in members
        if isinstance(member, type) and issubclass(member, base) and member not in abstract
    )


@guarded()
def read(guard_manager: Any) -> Tree | None:
    """Returns the tree behind a cache entry's guard manager; None if the manager has no tree that depyf can read."""
    if guard_manager is None:
        return None
    top_manager = private.of(guard_manager, "torch._dynamo.guards:GuardManagerWrapper.root")
    if not all(hasattr(top_manager, name) for name in ("get_leaf_guards", "clone_manager")):
        return None
    relational = private.get(f"{_MODULE}:RelationalGuard") or ()
    dict_manager = private.get(f"{_MODULE}:DictGuardManager") or ()
    nodes: list[Node] = []

    def node_of(manager: Any, step: Step | None, parent: Node | None) -> Node:
        type_of = getattr(manager, "get_type_of_guarded_value", None)  # Older releases lack this method.
        kind = None
        if type_of is not None and step is not None:
            kind = private.checked(f"{_MODULE}:RootGuardManager.get_type_of_guarded_value", type_of())
        source = private.checked(f"{_MODULE}:RootGuardManager.get_source", manager.get_source())
        node = Node(
            source, weak.reference(kind), isinstance(manager, dict_manager), step, manager=manager, parent=parent
        )
        node.leaves = [_leaf(leaf, relational) for leaf in manager.get_leaf_guards()]
        nodes.append(node)
        return node

    top = node_of(top_manager, None, None)
    for node in nodes:  # The list grows during the loop.
        manager = node.manager
        if node.is_dict:
            for index, (key, value) in sorted(manager.get_key_value_managers().items()):
                for which, child in (("key", key), ("value", value)):
                    if child is not None:
                        node.children.append(node_of(child, Step(which, str(index)), node))
        accessors = manager.get_accessors()
        children = manager.get_child_managers()
        for accessor, child in zip(accessors, children, strict=False):
            node.children.append(node_of(child, _step(type(accessor).__name__, accessor.repr()), node))
    epilogue: list[Any] = getattr(top_manager, "get_epilogue_lambda_guards", list)()
    return Tree(top, [_leaf(leaf, relational, epilogue=True) for leaf in epilogue], top_manager)


def _leaf(live: Any, relational: Any, *, epilogue: bool = False) -> Leaf:
    kind = type(live).__name__
    is_relational = isinstance(live, relational) or kind in _RELATIONAL
    return Leaf(kind, list(live.verbose_code_parts()), live, callable(live), is_relational, epilogue)


@functools.lru_cache(maxsize=4096)  # The entries of a function have most steps in common.
def _step(kind: str, text: str) -> Step:
    """Returns the step of an accessor, from the name of its class and its printed text."""
    # An accessor whose class is not visible to Python has the type `GuardAccessor`, and only its printed text names its
    # kind.
    match = _ARGUMENT.match(text)
    if match is None:
        return Step(text if kind == "GuardAccessor" else kind)
    name, which, argument = match.groups()
    if local := _FRAME_LOCAL.match(argument):
        argument = local[1]
    return Step(name if which is None else f"{name}<{which.lower()}>", argument)
