"""Random programs for the soak: `program(seed)` is the source of a module.

A module defines `subject()` (the function or nn.Module to compile), `calls()` (the arguments of each call: shapes, dtypes,
flags and containers differ) and `state()` (what else a call may change). Everything in it follows from the seed. All tensors
of a call have one shape, so that most programs run to their end; programs that raise an exception are useful too.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

HEAD = '''\
import collections
import contextlib
import dataclasses
import functools
import itertools
import math
import operator

import torch
import torch.nn.functional as F


class Wrong(ValueError):
    pass


Pair = collections.namedtuple("Pair", "left right")


@dataclasses.dataclass
class Box:
    value: object
    count: int = 0

    def add(self, amount):
        self.value = self.value + amount
        self.count += 1
        return self.value


class Manager:
    """A context manager that notes, and swallows what it is told to."""

    def __init__(self, name, swallows=()):
        self.name, self.swallows = name, swallows

    def __enter__(self):
        LOG.append("enter " + self.name)
        return self

    def __exit__(self, kind, value, traceback):
        LOG.append("exit " + self.name + ("" if kind is None else " " + kind.__name__))
        return kind is not None and issubclass(kind, tuple(self.swallows))


@contextlib.contextmanager
def managed(scale):
    LOG.append(("managed", scale))
    try:
        yield scale
    finally:
        LOG.append("left")


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 2 + x * 0


@torch._dynamo.disable
def opaque(x, amount=1.0):
    return x * 0.5 + amount


@torch._dynamo.disable
def tell(*values):
    LOG.append(tuple(round(v.sum().item(), 4) if isinstance(v, torch.Tensor) else v for v in values))


def squares(x, count):
    for i in range(count):
        x = x * 0.5 + i
        yield x


def traced(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        STATE["calls"] = STATE["calls"] + 1
        return function(*args, **kwargs)

    return wrapper


LOG = []
STATE = {"calls": 0, "total": None}
COUNTER = 0
SCALE = 0.75
'''

UNARY = (
    *("{}.sin()", "{}.cos()", "{}.tanh()", "{}.abs()", "-{}", "{} * 2", "{} + 1", "{} * 0.5", "{} - 0.25", "{}.relu()"),
    *(
        "torch.sigmoid({})",
        "F.gelu({})",
        "{}.clone()",
        "{}.flip(0)",
        "{}.clamp(-1, 1)",
        "{}.exp().log1p()",
        "{}.detach()",
    ),
    *(
        "{}.to(torch.float64).to(torch.float32)",
        "torch.roll({}, 1)",
        "{}.cumsum(0)",
        "{}.contiguous()",
        "torch.zeros_like({})",
    ),
    *(
        "{}.view(-1)",
        "{}.reshape(1, -1).squeeze(0)",
        "{} * SCALE",
        "F.dropout({}, 0.5, training=False)",
        "{}.softmax(0)",
    ),
    "{} + torch.rand_like({})",
)
BINARY = (
    *("{} + {}", "{} - {}", "{} * {}", "{} / ({}.abs() + 1)", "torch.maximum({}, {})", "torch.where({} > 0, {}, 0.5)"),
    *("{} * {}.sum()", "{} + {}.mean()", "torch.stack([{}, {}]).sum(0)", "torch.add({}, {}, alpha=2)", "{} * {}.max()"),
    *("torch.lerp({}, {}, 0.5)", "{}.mul({})", "torch.cat([{}, {}])[: x.shape[0]]", "{} * ({} > 0)"),
)
IN_PLACE = (
    *(
        "{}.add_({})",
        "{}.mul_(0.5)",
        "{}.copy_({})",
        "{}.sub_({}.mean())",
        "{}[0] = 1.5",
        "{}[:2] += 1",
        "{}[0] += {}[-1]",
    ),
    *("{}.clamp_(-2, 2)", "{}.zero_()", "{}.tanh_()", "{} += {}", "{} *= 0.75", "{}.data.mul_(0.5)", "{}.fill_(0.25)"),
)
BREAKS = (
    *(
        "torch._dynamo.graph_break()",
        'print("at", n)',
        "tell({t}, n)",
        "LOG.append({t}.sum().item() > 0)",
        "print(f'{n} {flag}')",
    ),
    *("{v} = opaque({t})", "{v} = opaque({t}, amount=SCALE)", "tell(len(items), sorted(table))", "{t}.tolist()"),
    *(
        "str({t}.shape)",
        "tell(*items)",
        "torch._dynamo.graph_break(); {v} = {t}",
        "repr(n)",
        "LOG.append(str({t}.dtype))",
    ),
)
CONDITIONS = (
    *("flag", "not flag", "n > 2", "n % 2 == 0", "x.shape[0] > 3", "len(items) > 2", "'a' in table", "{t}.dim() == 1"),
    *("x.dtype == torch.float32", "flag and n > 1", "flag or x.shape[0] == 4", "1 < n < 4", "x.requires_grad"),
    *("isinstance({t}, torch.Tensor)", "STATE['calls'] > 1", "COUNTER % 2", "items", "not table", "extra is None"),
    *(
        "rest",
        "options.get('mode') == 'wide'",
        "torch.is_grad_enabled()",
        "mode is None",
        "callable(extra)",
        "n in (1, 3)",
    ),
)
DATA_CONDITIONS = ("{t}.sum() > 0", "{t}.mean().item() > 0.1", "bool({t}.max() > 0.5)", "({t} > 0).any()", "{t}[0] > 0")
ERRORS = (
    "ValueError",
    "KeyError",
    "Wrong",
    "RuntimeError",
    "ZeroDivisionError",
    "IndexError",
    "StopIteration",
    "TypeError",
)
RAISES = (
    *(
        "raise ValueError('wrong')",
        "raise Wrong(n)",
        "items[99]",
        "table['missing']",
        "1 // (n - n)",
        "raise KeyError(n)",
    ),
    *(
        "raise RuntimeError('bad') from None",
        "assert n < 0, 'small'",
        "int('x')",
        "next(iter(()))",
        "torch.ones(2) + torch.ones(3)",
    ),
    *("None.missing", "raise Wrong('deep') from ValueError('cause')", "undefined_name", "len(n)", "[].pop()"),
)


@dataclass
class Scope:
    """The names that a statement may use, by kind. Tensors have the shape of `x`."""

    tensors: list[str]
    functions: list[str] = field(default_factory=list)
    ints: list[str] = field(default_factory=lambda: ["n"])
    lists: list[str] = field(default_factory=lambda: ["items"])
    dicts: list[str] = field(default_factory=lambda: ["table"])
    in_loop: bool = False
    in_function: bool = False  # in a nested function: its variables are another function's, too
    is_finally: bool = False

    def inner(self, **changes: bool) -> Scope:
        """Returns the scope of a nested block: names that it binds are not seen after it."""
        copied = Scope(
            *(list(names) for names in (self.tensors, self.functions, self.ints, self.lists, self.dicts)),
            self.in_loop,
            self.in_function,
            self.is_finally,
        )
        for name, value in changes.items():
            setattr(copied, name, value)
        return copied


class Generator:
    """Writes one program."""

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

    # Statements

    def statements(self, scope: Scope, count: int, depth: int) -> None:
        for _ in range(count):
            if self.budget <= 0:
                break
            self.budget -= 1
            if self.chance(self.break_rate):
                self.graph_break(scope)
            else:
                self.statement(scope, depth)

    def statement(self, scope: Scope, depth: int) -> None:
        simple = [
            *(
                (self.assign, 5),
                (self.augment, 2),
                (self.in_place, 2),
                (self.list_statement, 2),
                (self.dict_statement, 2),
            ),
            *((self.state_statement, 2), (self.unpack, 1), (self.small, 1.5), (self.lambda_, 1.5)),
        ]
        nested = [
            *((self.if_, 4), (self.for_, 2.5), (self.while_, 1), (self.try_, 3), (self.with_, 3), (self.function, 2)),
            *((self.match, 0.6), (self.leave, 1), (self.generator, 0.8), (self.class_, 0.15)),
        ]
        kinds = simple + (nested if depth > 0 else [])
        chosen = self.rng.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])[0]
        chosen(scope, depth)

    def assign(self, scope: Scope, depth: int) -> None:
        value = self.tensor(scope, 3)
        if self.chance(0.5) or scope.in_function:
            name = self.fresh("a")
        else:
            name = self.rng.choice(scope.tensors)
        self.emit(f"{name} = {value}")
        if name not in scope.tensors:
            scope.tensors.append(name)

    def augment(self, scope: Scope, depth: int) -> None:
        name = self.rng.choice(scope.tensors)
        if scope.in_function:
            return self.assign(scope, depth)
        self.emit(f"{name} = {name} {self.rng.choice('+-*')} {self.tensor(scope, 1)}")

    def in_place(self, scope: Scope, depth: int) -> None:
        if scope.in_function:
            return self.assign(scope, depth)
        name = self.rng.choice([name for name in scope.tensors if not (self.has_gradients and name == "x")] or ["y"])
        if name not in scope.tensors:
            return self.assign(scope, depth)
        form = self.rng.choice(IN_PLACE)
        self.emit(form.replace("{}", name, 1).replace("{}", self.rng.choice(scope.tensors)))

    def graph_break(self, scope: Scope) -> None:
        target = self.fresh("b")
        form = self.rng.choice(BREAKS)
        self.emit(form.replace("{v}", target).replace("{t}", self.rng.choice(scope.tensors)))
        if "{v}" in form:
            scope.tensors.append(target)

    def list_statement(self, scope: Scope, depth: int) -> None:
        items, fresh = self.rng.choice(scope.lists), self.fresh("l")
        value = self.tensor(scope, 1)
        forms = (
            f"{items}.append({value})",
            f"{items}.insert(0, {value})",
            f"{items}.extend([{value}])",
            f"{items}[0] = {value}",
            f"{items}[1:] = [{value}]",
            f"{items}.reverse()",
            f"{items} += [{value}]" if not scope.in_function else f"{items}.append({value})",
            f"{fresh} = [{value} for u in {items}]",
            f"{fresh} = list({items})",
            f"{fresh} = [{value}, *{items}]",
            f"{fresh} = {items}[::-1]",
            f"{fresh} = [u + k for k, u in enumerate({items}) if {self.condition(scope)}] + [{value}]",
            f"{fresh} = [(lambda u: u * 0.5)(u) for u in {items}]",
            f"{fresh} = [*map(lambda u: u + {value}, {items})]",
            f"{fresh} = [u * v for u in {items} for v in {items}[:2]]",
            f"{fresh} = collections.deque({items}, maxlen=3)",
        )
        text = self.rng.choice(forms)
        self.emit(text)
        if text.startswith(fresh):
            scope.lists.append(fresh)

    def dict_statement(self, scope: Scope, depth: int) -> None:
        table, fresh, taken = self.rng.choice(scope.dicts), self.fresh("d"), self.fresh("a")
        value = self.tensor(scope, 1)
        forms = (
            f"{table}['{self.rng.choice('abc')}'] = {value}",
            f"{table}.update(c={value})",
            f"{table}.setdefault('b', {value})",
            f"{taken} = {table}.pop('a', {value})",
            f"{taken} = {table}.setdefault('{self.rng.choice('abc')}', {value})",
            f"{fresh} = {{**{table}, 'a': {value}}}",
            f"{fresh} = {{k: v * 0.5 for k, v in {table}.items()}}",
            f"{fresh} = dict(zip('abc', [{value}, {value}]))",
            f"{fresh} = {table} | {{'b': {value}}}",
            f"{fresh} = {{k: (lambda: {value}) for k in 'ab'}}; {taken} = {fresh}['a']()",
            f"{table}.pop('b', None)",
        )
        text = self.rng.choice(forms)
        self.emit(text)
        if f"{taken} = " in text:
            scope.tensors.append(taken)
        elif text.startswith(fresh):
            scope.dicts.append(fresh)

    def state_statement(self, scope: Scope, depth: int) -> None:
        value = self.tensor(scope, 1)
        forms = [
            "STATE['calls'] += 1",
            f"STATE['total'] = {value}",
            f"LOG.append('{self.fresh('note')}')",
            "STATE.setdefault('seen', []).append(n)",
            f"box.add({value})",
            "box.count += 1",
            f"box.value = {value}",
            f"box.extra = {value}",
            "globals()['SCALE'] = SCALE * 0.5",
        ]
        if self.is_module and not scope.in_function:
            forms += [
                *("self.steps += 1", f"self.buffer = {value}.mean()", f"self.last = {value}", "self.total.add_(1)"),
                *(f"self.seen.append({value})", f"setattr(self, 'mode_{self.rng.randrange(2)}', flag)"),
            ]
        elif not scope.in_function and self.chance(0.5):
            forms = ["COUNTER += 1", "COUNTER = n"]
        self.emit(self.rng.choice(forms))

    def unpack(self, scope: Scope, depth: int) -> None:
        one, two = self.fresh("a"), self.fresh("a")
        values = self.tensor(scope, 1), self.tensor(scope, 1)
        forms = (
            f"{one}, {two} = {values[0]}, {values[1]}",
            f"{one}, *_, {two} = [{values[0]}, n, flag, {values[1]}]",
            f"({one}, _), {two} = ({values[0]}, n), {values[1]}",
            f"{one} = {two} = {values[0]}",
            f"{one}, {two} = Pair({values[0]}, {values[1]})",
            f"{one}, {two} = {values[0]}.sin(), {values[1]}; {one}, {two} = {two}, {one}",
            f"{one}, {two} = divmod(n, 2)[0] + {values[0]}, {values[1]}",
            f"{one}, {two} = {values[0]}, {values[1]}; del {one}; {one} = {two}",
        )
        self.emit(self.rng.choice(forms))
        scope.tensors += [one, two]

    def small(self, scope: Scope, depth: int) -> None:
        fresh = self.fresh("i")
        forms = (
            f"{fresh} = n + {self.rng.randrange(4)}",
            f"{fresh} = len(items) * 2",
            f"{fresh} = x.shape[0] - 1",
            f"{fresh} = max(n, 3) if flag else min(n, len(table))",
            f"{fresh} = sum(k for k in range(n))",
            f"{fresh} = len([k for k in range(n) if k % 2])",
            f"{fresh} = hash(('a', 1)) * 0 + n",
            f"{fresh} = len('-'.join(sorted(table)))",
            f"{fresh} = len(f'{{n:>4}}|{{flag!r}}')",
            f"{fresh} = len({{k % 3 for k in range(n + 3)}} & {{0, 1}})",
            f"{fresh} = n << 1 if n else ~n",
            f"{fresh} = int(x.dtype == torch.float32) + n // 2",
            f"assert n >= 0, f'{{n}}'; {fresh} = n",
            f"import math as m; {fresh} = m.floor(n * 1.5)",
        )
        self.emit(self.rng.choice(forms))
        scope.ints.append(fresh)

    def lambda_(self, scope: Scope, depth: int) -> None:
        name, argument = self.fresh("g"), self.rng.choice("pq")
        inner = scope.inner(in_function=True)
        inner.tensors.append(argument)
        if self.chance(0.5):
            inner.tensors = [argument]
        body = self.tensor(inner, 2)
        forms = (
            f"{name} = lambda {argument}: {body}",
            f"{name} = lambda {argument}, k=n: ({body}) * k",
            f"{name} = functools.partial(lambda k, {argument}: ({body}) + k, {self.rng.choice(scope.ints)})",
            f"{name} = traced(lambda {argument}: {body})",
            f"{name} = (lambda {argument}: {body}) if {self.condition(scope)} else (lambda {argument}: {body})",
            f"{name} = [lambda {argument}: {body}, lambda {argument}: {argument} + 1][n % 2]",
        )
        self.emit(self.rng.choice(forms))
        scope.functions.append(name)
        if self.chance(0.25):
            self.emit(f"extra = {name}")

    def if_(self, scope: Scope, depth: int) -> None:
        with self.block(f"if {self.condition(scope)}:"):
            self.statements(scope.inner(), self.rng.randint(1, 3), depth - 1)
        if self.chance(0.25):
            with self.block(f"elif {self.condition(scope)}:"):
                self.statements(scope.inner(), self.rng.randint(1, 2), depth - 1)
        if self.chance(0.5):
            with self.block("else:"):
                self.statements(scope.inner(), self.rng.randint(1, 3), depth - 1)

    def for_(self, scope: Scope, depth: int) -> None:
        index, item = self.fresh("k"), self.fresh("u")
        items, table = self.rng.choice(scope.lists), self.rng.choice(scope.dicts)
        heads = (
            (f"for {index} in range({self.rng.choice(['2', '3', 'n', 'len(items)'])}):", index, None),
            (f"for {index}, {item} in enumerate(list({items})[:3]):", index, item),
            (f"for {item} in {items}[:3]:", None, item),
            (f"for {index}, {item} in list({table}.items()):", None, item),
            (f"for {item}, {index} in zip(list({items}), (1, 2)):", index, item),
            (f"for {index}, {item} in enumerate(squares({self.tensor(scope, 1)}, 2)):", index, item),
            (f"for {item} in itertools.islice({items}, 2):", None, item),
            (f"for {index} in reversed((1, 2)):", index, None),
        )
        head, integer, tensor = self.rng.choice(heads)
        inner = scope.inner(in_loop=True)
        inner.ints += [integer] if integer else []
        inner.tensors += [tensor] if tensor else []
        with self.block(head):
            self.statements(inner, self.rng.randint(1, 3), depth - 1)
            if self.chance(0.3):
                with self.block(f"if {self.condition(inner)}:"):
                    self.emit(self.rng.choice(["break", "continue"]))
                self.statements(inner, 1, depth - 1)
        if self.chance(0.15):
            with self.block("else:"):
                self.statements(scope.inner(), 1, depth - 1)

    def while_(self, scope: Scope, depth: int) -> None:
        index = self.fresh("w")
        self.emit(f"{index} = 0")
        inner = scope.inner(in_loop=True)
        inner.ints.append(index)
        with self.block(f"while {self.rng.choice([f'{index} < 3', f'{index} < n % 4', 'True'])}:"):
            self.emit(f"{index} += 1")
            with self.block(f"if {index} > 3:"):
                self.emit("break")
            self.statements(inner, self.rng.randint(1, 3), depth - 1)
        if self.chance(0.1):
            with self.block("else:"):
                self.statements(scope.inner(), 1, depth - 1)

    def try_(self, scope: Scope, depth: int) -> None:
        error = self.fresh("e")
        with self.block("try:"):
            inner = scope.inner()
            self.statements(inner, self.rng.randint(1, 3), depth - 1)
            if self.chance(0.6):
                if self.chance(0.6):
                    with self.block(f"if {self.condition(inner)}:"):
                        self.emit(self.rng.choice(RAISES))
                else:
                    self.emit(self.rng.choice(RAISES))
        has_handler = self.chance(0.8)
        if has_handler:
            for _ in range(self.rng.randint(1, 2)):
                kinds = self.rng.sample(ERRORS, 2)
                head = self.rng.choice(
                    [
                        f"except {kinds[0]}:",
                        f"except ({kinds[0]}, {kinds[1]}) as {error}:",
                        f"except {kinds[1]} as {error}:",
                    ]
                )
                with self.block(head):
                    if error in head and self.chance(0.5):
                        self.emit(f"LOG.append(type({error}).__name__)")
                    self.statements(scope.inner(), self.rng.randint(1, 2), depth - 1)
                    if self.chance(0.15):
                        self.emit(
                            self.rng.choice(["raise", "raise Wrong('again')", f"raise Wrong('from') from {error}"])
                        )
            if self.chance(0.5):
                with self.block(self.rng.choice(["except Exception:", f"except Exception as {error}:", "except:"])):
                    self.statements(scope.inner(), 1, depth - 1)
            if self.chance(0.25):
                with self.block("else:"):
                    self.statements(scope.inner(), 1, depth - 1)
        if not has_handler or self.chance(0.3):
            with self.block("finally:"):
                self.statements(scope.inner(is_finally=True), self.rng.randint(1, 2), depth - 1)

    def with_(self, scope: Scope, depth: int) -> None:
        name = self.fresh("m")
        heads = (
            "torch.no_grad()",
            "torch.set_grad_enabled(flag)",
            "torch.enable_grad()",
            f"contextlib.suppress({', '.join(self.rng.sample(ERRORS, 2))})",
            "contextlib.nullcontext()",
            f"Manager('{name}')",
            f"Manager('{name}', swallows=[{self.rng.choice(ERRORS)}])",
            f"Manager('{name}', [Exception]) as {name}",
            "managed(0.5)",
            f"managed(n) as {name}",
            "torch.autograd.profiler.record_function('part')",
            "torch.autocast('cpu', enabled=False)",
            "contextlib.ExitStack()",
        )
        chosen = self.rng.sample(heads, 2) if self.chance(0.2) else [self.rng.choice(heads)]
        with self.block(f"with {', '.join(chosen)}:"):
            inner = scope.inner()
            self.statements(inner, self.rng.randint(1, 4), depth - 1)
            if self.chance(0.25):
                with self.block(f"if {self.condition(inner)}:"):
                    self.emit(self.rng.choice(RAISES))

    def function(self, scope: Scope, depth: int) -> None:
        name, argument = self.fresh("h"), "r"
        inner = scope.inner(in_function=True, in_loop=False, is_finally=False)
        cell = self.rng.choice([n for n in scope.tensors if n not in ("x", "y")] or ["y"])
        uses_nonlocal = cell not in ("x", "y") and not scope.in_function and self.chance(0.3)
        if self.chance(0.5):
            inner.tensors = [argument, *self.rng.sample(scope.tensors, 1)]
        else:
            inner.tensors.append(argument)
        if uses_nonlocal and cell in inner.tensors:
            uses_nonlocal = False
        head = self.rng.choice(
            [
                f"def {name}({argument}):",
                f"def {name}({argument}, k=n):",
                f"def {name}({argument}, *more, k=2, **others):",
            ]
        )
        if self.chance(0.15):
            self.emit("@traced")
        saved = self.break_rate
        with self.block(head):
            if uses_nonlocal:
                self.emit(f"nonlocal {cell}")
                self.emit(f"{cell} = {argument} * 0.5")
            self.statements(inner, self.rng.randint(1, 3), depth - 1)
            if self.chance(0.2):
                with self.block(f"if {self.condition(inner)}:"):
                    self.emit(f"return {self.tensor(inner, 1)}")
            self.emit(f"return {self.tensor(inner, 2)}")
        self.break_rate = saved
        scope.functions.append(name)
        if self.chance(0.6):
            target = self.fresh("a")
            self.emit(f"{target} = {name}({self.tensor(scope, 1)})")
            scope.tensors.append(target)

    def generator(self, scope: Scope, depth: int) -> None:
        name, target = self.fresh("gen"), self.fresh("a")
        inner = scope.inner(in_function=True, in_loop=False, is_finally=False)
        inner.tensors.append("r")
        with self.block(f"def {name}(r):"):
            with self.block("for step in range(2):"):
                inner.ints.append("step")
                self.statements(inner, 1, 0)
                self.emit(f"yield {self.tensor(inner, 1)}")
            if self.chance(0.3):
                self.emit(f"yield from [{self.tensor(inner, 1)}]")
        forms = (
            f"{target} = sum({name}({self.tensor(scope, 1)}))",
            f"{target} = list({name}({self.tensor(scope, 1)}))[-1]",
            f"{target} = next({name}({self.tensor(scope, 1)}))",
            f"{target}, *_ = {name}({self.tensor(scope, 1)})",
            f"{target} = [u * 0.5 for u in {name}({self.tensor(scope, 1)})][0]",
        )
        self.emit(self.rng.choice(forms))
        scope.tensors.append(target)

    def class_(self, scope: Scope, depth: int) -> None:
        name, target = self.fresh("Local"), self.fresh("a")
        with self.block(f"class {name}:"):
            self.emit("factor = 2")
            with self.block("def go(self, r):"):
                self.emit("return r * self.factor")
        self.emit(f"{target} = {name}().go({self.tensor(scope, 1)})")
        scope.tensors.append(target)

    def match(self, scope: Scope, depth: int) -> None:
        subject = self.rng.choice(["n", "(n, flag)", "table", "mode", "items"])
        cases = {
            "n": ("0 | 1", "2", "int(w) if w > 3"),
            "(n, flag)": ("(0, _)", "(w, True)", "(3, False)"),
            "table": ("{'a': w}", "{'b': _, **others}"),
            "mode": ("None", "'wide'", "str()"),
            "items": ("[w]", "[_, w]", "[_, *others]"),
        }[subject]
        with self.block(f"match {subject}:"):
            for case in self.rng.sample(cases, self.rng.randint(1, len(cases))):
                with self.block(f"case {case}:"):
                    self.statements(scope.inner(), 1, depth - 1)
            if self.chance(0.6):
                with self.block("case _:"):
                    self.statements(scope.inner(), 1, depth - 1)

    def leave(self, scope: Scope, depth: int) -> None:
        """An early return, or an exception that leaves the function."""
        with self.block(f"if {self.condition(scope)}:"):
            if self.chance(0.3):
                self.emit(self.rng.choice(RAISES))
            elif scope.in_function or self.chance(0.6):
                self.emit(f"return {self.tensor(scope, 1)}")
            else:
                self.emit(f"return {self.result(scope)}")

    def result(self, scope: Scope) -> str:
        one, two = self.tensor(scope, 1), self.tensor(scope, 1)
        table, items = self.rng.choice(scope.dicts), self.rng.choice(scope.lists)
        forms = [
            *(one, one, f"({one}, {two})", f"{{'out': {one}, 'n': n}}", f"[{one}, *{items}]", f"({one}, {table})"),
            *(f"({one}, {items}, n)", f"Pair({one}, {two})", f"({one}, flag, None)", f"({one}, box.count, x)"),
            *(f"{one}, (lambda p: p + n)", f"({one}, {{n, 1}}, f'{{n}}')", f"Box({one}, n)"),
        ]
        if scope.functions:
            forms.append(f"({one}, {self.rng.choice(scope.functions)})")
        return self.rng.choice(forms)

    # The module

    def helper(self) -> None:
        name = self.fresh("helper")
        if self.chance(0.2):
            self.emit(self.rng.choice(["@traced", "@torch.no_grad()", "@functools.lru_cache(None)"]))
            if "lru" in self.lines[-1]:
                self.lines.pop()
        scope = Scope(["x", "y"], in_function=False)
        scope.lists, scope.dicts = ["items"], ["table"]
        self.budget = 5
        with self.block(f"def {name}(x, y, k=1):"):
            self.emit("global COUNTER")
            self.emit("n, flag, items, table, box = k, k > 1, [x, y], {'a': x}, Box(y)")
            self.emit("rest, options, mode, extra = (), {}, None, None")
            saved, self.is_module = self.is_module, False
            self.statements(scope, self.rng.randint(1, 3), 1)
            self.is_module = saved
            self.emit(f"return {self.tensor(scope, 1)}")
        self.emit("")
        self.emit("")
        self.helpers.append(name)

    def body(self) -> None:
        scope = Scope(["x", "y"])
        self.emit("global COUNTER")
        if self.is_module:
            self.emit(
                self.rng.choice(["x = self.first(x)", "x = self.norm(self.first(x))", "x = x * self.weight", "pass"])
            )
        if self.has_gradients and self.chance(0.3):
            self.emit("x = x * 1")
        self.budget = self.rng.randint(4, 22)
        self.statements(scope, 30, 3)
        if self.is_module and self.chance(0.5):
            self.emit(f"for layer in self.layers: x = layer({self.rng.choice(['x', self.tensor(scope, 1)])})")
        self.emit(f"return {self.result(scope)}")

    def call_arguments(self) -> str:
        size, dtype = self.rng.choice([2, 3, 4, 4, 4, 5, 7]), self.rng.choice(["float32"] * 4 + ["float64"])
        if self.is_module:
            size, dtype = 4, "float32"
        gradients = self.has_gradients and self.chance(0.8)
        sign = self.rng.choice(["", "-"])
        x = f"({sign}torch.linspace(-1, 2, {size}, dtype=torch.{dtype})).requires_grad_({gradients})"
        y = f"{self.rng.choice(['', '-'])}torch.arange({size}, dtype=torch.{dtype}) / 4"
        items = ", ".join(f"torch.full(({size},), {k}.5, dtype=torch.{dtype})" for k in range(self.rng.randint(2, 3)))
        table = ", ".join(
            f"'{key}': torch.ones({size}, dtype=torch.{dtype}) * {k}"
            for k, key in enumerate(self.rng.choice(["a", "ab", "ba", ""]))
        )
        count, flag = self.rng.choice([1, 2, 2, 3, 5]), self.rng.choice([True, False])
        keywords = self.rng.choice(["", "", "mode='wide'", "extra=torch.sin", "scale=0.5, mode='wide'"])
        rest = self.rng.choice(["", "", ", 7"])
        named = f"dict({keywords})"
        box = f"Box(torch.ones({size}, dtype=torch.{dtype}))"
        return f"(({x}, {y}, {count}, {flag}, [{items}], {{{table}}}, {box}{rest}), {named})"

    def program(self) -> str:
        self.lines = HEAD.splitlines()
        self.emit("")
        self.emit("")
        for _ in range(self.rng.choice([0, 0, 1, 2])):
            self.helper()
        parameters = "x, y, n, flag, items, table, box, *rest, extra=None, mode=None, **options"
        if self.is_module:
            with self.block("class Subject(torch.nn.Module):"):
                with self.block("def __init__(self):"):
                    self.emit("super().__init__()")
                    self.emit("self.first = torch.nn.Linear(4, 4)")
                    self.emit("self.norm = torch.nn.LayerNorm(4)")
                    self.emit("self.layers = torch.nn.ModuleList([torch.nn.Linear(4, 4), torch.nn.Tanh()])")
                    self.emit("self.weight = torch.nn.Parameter(torch.ones(4))")
                    self.emit("self.register_buffer('total', torch.zeros(4))")
                    self.emit("self.steps, self.buffer, self.last, self.seen = 0, None, None, []")
                self.emit("")
                with self.block(f"def forward(self, {parameters}):"):
                    self.body()
        else:
            with self.block(f"def main({parameters}):"):
                self.body()
        self.emit("")
        self.emit("")
        with self.block("def subject():"):
            self.emit("return Subject()" if self.is_module else "return main")
        self.emit("")
        self.emit("")
        with self.block("def state():"):
            self.emit("return LOG, STATE, COUNTER, SCALE")
        self.emit("")
        self.emit("")
        with self.block("def calls():"):
            arguments = [self.call_arguments() for _ in range(self.rng.randint(2, 5))]
            arguments += [self.rng.choice(arguments) for _ in range(self.rng.randint(0, 2))]
            self.emit("return [")
            for text in arguments:
                self.emit(f"    {text},")
            self.emit("]")
        return "\n".join(self.lines) + "\n"


def program(seed: int) -> str:
    """Returns the source of the seed's program. If a program is not valid Python, another one is made from another
    seed."""
    for attempt in range(100):
        text = Generator(seed + attempt * 1_000_003).program()
        try:
            compile(text, "<program>", "exec", dont_inherit=True)
        except SyntaxError:
            continue
        return text
    raise AssertionError(f"seed {seed} gives no Python")
