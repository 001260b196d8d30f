"""Prints a tree of guards as PyTorch prints it, in less time. `session.json` contains the printed tree of guards of
each compilation.

The kinds of guards and managers that can be printed are learned from PyTorch's own text (see `learning`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from depyf.compat import printed
from depyf.printing.learning import Learner, Unknown


class Printer:
    """Prints trees of guards, and learns which kinds of guards and managers it can print."""

    def __init__(self) -> None:
        self._learner = Learner()

    def text(self, root: Any, own: Callable[[], str]) -> str:
        """Returns the text of a tree of guards; `own` returns the text that PyTorch prints."""
        return self._learner.text(lambda parts: _Tree(parts).text(root), own)


class _Tree:
    """The state of printing one tree of guards."""

    def __init__(self, parts: set[Any]) -> None:
        self._parts = parts
        self._relational, self._dict_manager = printed.guard_kinds()
        if self._relational is None or self._dict_manager is None:
            raise Unknown
        self._lines = ["", "TREE_GUARD_MANAGER:", "+- RootGuardManager"]
        self._printed: set[Any] = set()  # printed relational guards, each of which occurs at several values

    def text(self, root: Any) -> str:
        self._below(root, "| +- ")
        for guard in root.get_epilogue_lambda_guards():
            self._guard(guard, "+- ")
        text = "\n".join([*self._lines, ""])
        if "\\\n" in text:  # PyTorch joins a line that ends with a backslash with the next line.
            raise Unknown
        return text

    def _below(self, manager: Any, lead: str) -> None:
        """Adds the lines below the line of a guard manager; `lead` is the prefix of the lines one level below."""
        for guard in manager.get_leaf_guards():
            if not isinstance(guard, self._relational):
                self._guard(guard, lead)
            elif guard in self._printed:
                self._parts.add(("again", type(guard).__name__))
                self._lines.append(f"{lead}{type(guard).__name__}")
            else:
                self._printed.add(guard)
                self._guard(guard, lead)
        if isinstance(manager, self._dict_manager):
            for index, (key, value) in sorted(manager.get_key_value_managers().items()):
                self._lines.append(f"{lead}KeyValueManager pair at index={index}")
                for role, child in (("Key", key), ("Value", value)):
                    if child:
                        self._parts.add(role)
                        self._lines.append(f"| {lead}{role}Manager: {self._manager(child, '')}")
                        self._below(child, f"| | {lead}")
        for accessor, child in zip(manager.get_accessors(), manager.get_child_managers(), strict=False):
            self._lines.append(f"{lead}{self._manager(child, f', accessed_by={accessor.repr()}')}")
            self._below(child, f"| {lead}")

    def _guard(self, guard: Any, lead: str) -> None:
        name = type(guard).__name__
        self._parts.add(("guard", name))
        self._lines += [f"{lead}{name}: {words}" for words in guard.verbose_code_parts()]

    def _manager(self, manager: Any, accessed: str) -> str:
        name, kind = type(manager).__name__, manager.get_type_of_guarded_value()
        self._parts.add(("manager", name))
        tags = f"({manager.is_tag_safe()}, {manager.is_tag_safe_root()})"
        return f"{name}: source={manager.get_source()}{accessed}, type={kind}, tag_safe={tags}"
