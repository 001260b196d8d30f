"""Writes the text and the expressions of a random program."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from vocabulary import BINARY, CONDITIONS, DATA_CONDITIONS, UNARY


@dataclass
class Scope:
    """The names that a statement may use, by kind. All tensors have the shape of the program's argument `x`."""

    tensors: list[str]
    functions: list[str] = field(default_factory=list)
    ints: list[str] = field(default_factory=lambda: ["n"])
    lists: list[str] = field(default_factory=lambda: ["items"])
    dicts: list[str] = field(default_factory=lambda: ["table"])
    in_loop: bool = False
    in_function: bool = False  # True in a nested function, which must not rebind the outer function's variables
    is_finally: bool = False

    def inner(self, **changes: bool) -> Scope:
        """Returns a copy of the scope for a nested block, so that names bound in the block are not used behind it."""
        copied = Scope(
            *(list(names) for names in (self.tensors, self.functions, self.ints, self.lists, self.dicts)),
            self.in_loop,
            self.in_function,
            self.is_finally,
        )
        for name, value in changes.items():
            setattr(copied, name, value)
        return copied


class Expressions:
    """Keeps the lines of one program, and writes expressions."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.lines: list[str] = []
        self.indent = 0
        self.count = 0
        self.budget = 0
        self.helpers: list[str] = []
        self.is_module = self.rng.random() < 0.3
        self.has_gradients = self.rng.random() < 0.35
        self.break_rate = self.rng.choice([0.0, 0.08, 0.15, 0.3])
        self.data_rate = self.rng.choice([0.0, 0.1, 0.3])

    # Text

    def emit(self, text: str) -> None:
        self.lines.append("    " * self.indent + text if text else "")

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        self.emit(head)
        self.indent += 1
        start = len(self.lines)
        yield
        if len(self.lines) == start:
            self.emit("pass")
        self.indent -= 1

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    # Expressions

    def tensor(self, scope: Scope, depth: int = 2) -> str:
        """Returns an expression for a tensor of the shape of `x`."""
        pick = self.rng.random()
        if depth <= 0 or pick < 0.2:
            return self.rng.choice(scope.tensors)
        deeper: Callable[[], str] = lambda: self.tensor(scope, depth - 1)  # noqa: E731
        if pick < 0.45:
            inner = deeper()
            inner = inner if inner.isidentifier() else f"({inner})"
            return self.rng.choice(UNARY).replace("{}", inner)
        if pick < 0.68:
            return self.rng.choice(BINARY).format(*(f"({self.tensor(scope, depth - 1)})" for _ in range(2)))
        if pick < 0.76 and scope.functions:
            return f"{self.rng.choice(scope.functions)}({deeper()})"
        if pick < 0.81:
            return f"({deeper()} if {self.condition(scope)} else {deeper()})"
        if pick < 0.86 and self.helpers:
            return self.helper_call(scope)
        items, table = self.rng.choice(scope.lists), self.rng.choice(scope.dicts)
        variable = self.rng.choice("tuvw")
        inner_scope = scope.inner()
        inner_scope.tensors.append(variable)
        body = self.tensor(inner_scope, 1)
        forms = (
            f"{items}[{self.rng.choice(['0', '-1', '1'])}]",
            f"{table}.get('a', {deeper()})",
            f"sum({items})",
            f"sum({body} for {variable} in {items})",
            f"sum([{body} for {variable} in {items} if {self.condition(scope)}], {deeper()})",
            f"functools.reduce(lambda p, q: p + q, {items})",
            f"functools.reduce(operator.mul, {items}, {deeper()})",
            f"functools.reduce(lambda p, {variable}: p * 0.5 + ({body}), {items}, {deeper()})",
            f"(lambda {variable}: {body})({deeper()})",
            f"(lambda {variable}, k=n: ({body}) * k)({deeper()})",
            f"torch.stack(list(map(lambda {variable}: {body}, {items}))).sum(0)",
            f"max({items}, key=lambda {variable}: len({variable}))",
            f"sorted({items}, key=lambda {variable}: {variable}.shape[0])[0]",
            f"functools.partial(torch.add, {deeper()})({deeper()})",
            f"({variable} := {deeper()}) + {variable} * 0.5",
            f"[{variable} * k for k, {variable} in enumerate({items})][-1]",
            f"next(iter({items}))",
            f"{{key: value for key, value in {table}.items()}}.get('b', {deeper()})",
            f"list(squares({deeper()}, 2))[-1]",
            f"Pair({deeper()}, {deeper()}).left",
            f"Double.apply({deeper()})",
            f"[*{items}, {deeper()}][-1]",
            f"dict({table}, z={deeper()})['z']",
            f"getattr({deeper()}, 'sin')()",
            f"next(({variable} for {variable} in {items} if {variable}.dim() == 1), {deeper()})",
            f"torch.stack([*itertools.chain({items}, [{deeper()}])]).mean(0)",
            f"{deeper()} * math.sqrt(n + 1)",
        )
        text = self.rng.choice(forms)
        return text if ":=" not in text or not scope.in_function else deeper()

    def condition(self, scope: Scope) -> str:
        forms = DATA_CONDITIONS if self.chance(self.data_rate) else CONDITIONS
        return self.rng.choice(forms).format(t=self.rng.choice(scope.tensors))

    def helper_call(self, scope: Scope) -> str:
        arguments = [self.tensor(scope, 1), self.tensor(scope, 1)]
        if self.chance(0.3):
            arguments.append(f"k={self.rng.choice(scope.ints)}")
        return f"{self.rng.choice(self.helpers)}({', '.join(arguments)})"
