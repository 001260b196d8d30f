"""Writes random programs for the soak: `program(seed)` returns the source of a module.

A module defines `subject()` (the function or nn.Module to compile), `calls()` (the arguments of each call: shapes,
dtypes, flags and containers differ) and `state()` (other objects that a call may change). The module depends only on
the seed. All tensors of a call have one shape, so that most programs run to their end without an exception; programs
that raise an exception are tested too.
"""

from __future__ import annotations

from expressions import Scope
from statements import Statements
from vocabulary import HEAD


class Generator(Statements):
    """Writes one program."""

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
    raise AssertionError(f"seed {seed} generates no valid Python")
