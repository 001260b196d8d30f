"""Writes the statements of a random program that contain no other statements."""

from __future__ import annotations

from expressions import Expressions, Scope
from vocabulary import BREAKS, IN_PLACE


class SimpleStatements(Expressions):
    """Each method writes a simple statement, or a few that belong together, and adds the names that are bound to the
    scope."""

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
