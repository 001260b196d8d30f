"""Writes blocks of statements of a random program, and the statements that contain blocks."""

from __future__ import annotations

from expressions import Scope
from simple_statements import SimpleStatements
from vocabulary import ERRORS, RAISES


class Statements(SimpleStatements):
    """`depth` is the number of levels that further blocks may nest, and `budget` the number of statements that are left."""

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
        """Writes an early return, or an exception that leaves the function."""
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
