"""Finds guards that other guards of the same compilation imply.

The rules compare conditions only, so they hold for every input: a guard is redundant only if no input exists that it
refuses and that all remaining guards accept. Guards that PyTorch's own objects check (`Guard.live`) neither imply
others nor are implied. All redundant guards can be left out together, because a redundant guard is no longer used as a
premise.
"""

from __future__ import annotations

import ast
import functools
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from depyf.guards.model import Guard

_PLAIN_TENSORS = ("torch.Tensor", "torch.nn.Parameter", "torch.nn.parameter.Parameter")
_COMPARABLE = {"int": int, "str": str, "bool": bool, "bytes": bytes}
"""The classes whose values compare as constants do, by their names in conditions."""
_OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Is: "is", ast.IsNot: "is not",
}  # fmt: skip
_SIMPLE = re.compile(
    r"(.+) (==|!=|<=|<|>=|>|is not|is) (?:(None|True|False|-?\d{1,18}|'[^'\\]*')|([A-Za-z_][\w.]*))$", re.DOTALL
)
_COMPARISON = re.compile(r"[=!<>,]=|[<>]|\b(?:and|or|not|in|is|if|else|lambda|for)\b")
"""Operators that bind less tightly than a call or an item."""
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!=", "is": "is", "is not": "is not"}
_NONE_TYPE = "type(None)"


@dataclass(frozen=True)
class Redundant:
    """A guard that the remaining guards of its compilation imply."""

    guard: str
    """The guard, as Python if it has a Python form."""
    implied_by: list[str]
    """The conditions of other guards that imply it."""
    position: int
    """The index of the guard in the list."""


@dataclass(frozen=True)
class _Fact:
    """A condition, split into its parts if it compares one expression with a constant."""

    text: str
    subject: str = ""
    operator: str = ""
    constant: object = None


def redundant(guards: Iterable[Guard]) -> list[Redundant]:
    """Returns the guards that others imply, in their order, each with the conditions that imply it."""
    listed = list(guards)
    facts = [_facts_of(guard) for guard in listed]
    premises = _Premises()
    for own_facts in facts:
        premises.add(own_facts)
    named: list[Redundant] = []
    for position in reversed(range(len(listed))):
        guard, own_facts = listed[position], facts[position]
        if not own_facts:
            continue
        premises.remove(own_facts)
        reasons = premises.imply_all(own_facts)
        if reasons is None:
            premises.add(own_facts)
        else:
            named.append(Redundant(guard.expression or guard.text, reasons, position))
    return named[::-1]


def _facts_of(guard: Guard) -> list[_Fact]:
    """Returns the facts that a guard asserts; empty if the rules do not cover the guard.

    Guards on the state of the process are read while `__torch_function__` is active, so they are left alone.
    """
    if guard.live is not None or not guard.quiet or not guard.conditions:
        return []
    facts: list[_Fact] = []
    for condition in guard.conditions:
        facts += _facts(condition)
    return facts


@functools.lru_cache(maxsize=8192)  # The entries of a function have most conditions in common.
def _facts(condition: str) -> tuple[_Fact, ...]:
    simple = _simple_fact(condition)
    if simple is not None:
        return (simple,)
    try:
        tree = _OneForm().visit(ast.parse(condition, mode="eval").body)
        return tuple(_facts_in(tree))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return (_Fact(condition),)


def _simple_fact(condition: str) -> _Fact | None:
    """Returns the fact of a condition that is a single comparison with a short constant or a name; None for all other
    conditions.

    Parsing takes a hundred times as long, and a tree of guards can have tens of thousands of conditions like these.
    """
    if "()[" in condition:
        return None  # The expression can be a size, which `_OneForm` writes in another way.
    match = _SIMPLE.match(condition)
    if match is None or _COMPARISON.search(match[1]):
        return None
    subject, operator, constant, name = match.groups()
    return _Fact(condition, subject, operator, ast.Name(name) if name else ast.literal_eval(constant))


class _OneForm(ast.NodeTransformer):
    """Writes `x.size()[0]` as `x.size(0)`, so that a size has one text."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        index, owner = node.slice, node.value
        if not (isinstance(index, ast.Constant) and type(index.value) is int and index.value >= 0):
            return node
        if isinstance(owner, ast.Call) and isinstance(owner.func, ast.Attribute) and not owner.args:
            if owner.func.attr in ("size", "stride") and not owner.keywords:
                return ast.Call(owner.func, [index], [])
        return node


def _facts_in(tree: ast.expr) -> list[_Fact]:
    if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And):
        return [fact for part in tree.values for fact in _facts_in(part)]
    if isinstance(tree, ast.Compare) and len(tree.ops) > 1:
        operands = [tree.left, *tree.comparators]
        pairs = zip(operands, tree.ops, tree.comparators, strict=False)
        return [fact for left, operator, right in pairs for fact in _facts_in(ast.Compare(left, [operator], [right]))]
    text = ast.unparse(tree)
    if not isinstance(tree, ast.Compare):
        return [_Fact(text)]
    operator = _OPERATORS.get(type(tree.ops[0]))
    if operator is None:
        return [_Fact(text)]
    for subject, other, sign in (
        (tree.left, tree.comparators[0], operator),
        (tree.comparators[0], tree.left, _TURNED[operator]),
    ):
        try:
            constant: object = ast.literal_eval(other)
        except ValueError:
            continue
        name = ast.unparse(subject)
        return [_Fact(f"{name} {sign} {ast.unparse(other)}", name, sign, constant)]
    return [_Fact(text, ast.unparse(tree.left), operator, tree.comparators[0])]


class _Premises:
    """The facts of the guards that are kept."""

    def __init__(self) -> None:
        self._count: dict[str, int] = {}
        self._of_subject: dict[str, dict[str, _Fact]] = {}

    def add(self, facts: Iterable[_Fact]) -> None:
        self._change(facts, 1)

    def remove(self, facts: Iterable[_Fact]) -> None:
        self._change(facts, -1)

    def _change(self, facts: Iterable[_Fact], by: int) -> None:
        for fact in facts:
            self._count[fact.text] = self._count.get(fact.text, 0) + by
            if fact.subject and not isinstance(fact.constant, ast.AST):
                self._of_subject.setdefault(fact.subject, {})[fact.text] = fact

    def has(self, text: str) -> bool:
        return self._count.get(text, 0) > 0

    def imply_all(self, facts: Iterable[_Fact]) -> list[str] | None:
        """Returns the premises that imply every fact; None if a fact is not implied."""
        reasons: dict[str, None] = {}
        for fact in facts:
            reason = self._imply(fact)
            if reason is None:
                return None
            reasons.update(dict.fromkeys(reason))
        return list(reasons)

    def _imply(self, fact: _Fact) -> list[str] | None:
        if self.has(fact.text):
            return [fact.text]
        for rule in (self._alternative, self._presence, self._class, self._instance, self._key, self._of_sizes):
            reason = rule(fact)
            if reason is not None:
                return reason
        return self._by_values(fact)

    def _facts_on(self, subject: str) -> list[_Fact]:
        return [fact for fact in self._of_subject.get(subject, {}).values() if self.has(fact.text)]

    def _first(self, texts: Iterable[str]) -> list[str] | None:
        return next(([text] for text in texts if self.has(text)), None)

    def _alternative(self, fact: _Fact) -> list[str] | None:
        """A disjunction holds if its first part does. A later part may only be readable if the earlier parts fail."""
        if " or " not in fact.text:
            return None
        tree = ast.parse(fact.text, mode="eval").body
        if not isinstance(tree, ast.BoolOp) or not isinstance(tree.op, ast.Or):
            return None
        return self.imply_all(_facts_in(tree.values[0]))

    def _presence(self, fact: _Fact) -> list[str] | None:
        """A value of a class other than NoneType is not None."""
        if fact.operator != "is not" or fact.constant is not None or isinstance(fact.constant, ast.AST):
            return None
        subject = fact.subject
        builtin = ("int", "float", "str", "bool", "dict", "list", "tuple", "set", "frozenset", "bytes", "complex")
        texts = [f"type({subject}) is {name}" for name in (*builtin, *_PLAIN_TENSORS)]
        texts += [f"isinstance({subject}, {name})" for name in builtin]
        found = self._first([*texts, f"{subject} is True", f"{subject} is False"])
        if found is not None:
            return found
        for known in self._facts_on(f"id({subject})"):
            if known.operator == "==" and known.constant != id(None):
                return [known.text]
        return None

    def _class(self, fact: _Fact) -> list[str] | None:
        """None, True and False are the only objects of their classes, and these objects keep their class."""
        for subject, kind in ((_argument(fact.text, "type(", f") is {name}"), name) for name in ("bool", _NONE_TYPE)):
            if subject is not None:
                values = ("True", "False") if kind == "bool" else ("None",)
                return self._first(f"{subject} is {value}" for value in values)
        return None

    def _instance(self, fact: _Fact) -> list[str] | None:
        for kind in ("dict", "list", "tuple"):
            subject = _argument(fact.text, "isinstance(", f", {kind})")
            if subject is not None:
                return self._first([f"type({subject}) is {kind}"])
        return None

    def _key(self, fact: _Fact) -> list[str] | None:
        """The list of the keys of a dict determines the number of its keys.

        It does not imply that the dict finds a key: an object that equals the key can have another hash.
        """
        subject = _argument(fact.subject, "dict.__len__(", ")")
        if subject is None or fact.operator != "==":
            return None
        for known in self._facts_on(f"list(dict.keys({subject}))"):
            keys = known.constant
            if known.operator == "==" and isinstance(keys, list) and len(keys) == fact.constant:
                return [known.text]
        return None

    def _of_sizes(self, fact: _Fact) -> list[str] | None:
        """All sizes of a tensor determine each size, the number of dimensions, and the number of elements."""
        if type(fact.constant) is not int or not fact.subject.endswith(")"):
            return None
        tensor, _, call = fact.subject.rpartition(".")
        method, _, argument = call[:-1].partition("(")
        plain_class = self._first(f"type({tensor}) is {name}" for name in _PLAIN_TENSORS)
        if plain_class is None:
            return None
        of = "stride" if method == "stride" else "size"
        for known in self._facts_on(f"{tensor}.{of}()"):
            sizes = known.constant
            if known.operator != "==" or type(sizes) is not tuple or not all(type(size) is int for size in sizes):
                continue
            value: int | None = None
            if method in ("size", "stride") and argument.isdigit() and int(argument) < len(sizes):
                value = sizes[int(argument)]
            elif method in ("dim", "numel") and not argument:
                value = len(sizes) if method == "dim" else math.prod(sizes)
            if value is not None and _holds(value, fact.operator, fact.constant):
                return [*plain_class, known.text]
        return None

    def _by_values(self, fact: _Fact) -> list[str] | None:
        """Compares a fact with what is known about the same expression: its value, or the bounds of an integer."""
        if isinstance(fact.constant, ast.AST) or fact.operator in ("is", "is not", ""):
            return None
        whole, evidence = self._is_integer(fact.subject)
        kind = next((name for name in _COMPARABLE if self.has(f"type({fact.subject}) is {name}")), None)
        if kind is not None:
            evidence = [f"type({fact.subject}) is {kind}"]
        known = self._facts_on(fact.subject)
        for premise in known:
            comparable = kind is not None and type(fact.constant) is type(premise.constant) is _COMPARABLE[kind]
            comparable = comparable or (whole and type(fact.constant) is type(premise.constant) is int)
            if premise.operator == "==" and comparable and _holds(premise.constant, fact.operator, fact.constant):
                return [*evidence, premise.text]
        if not whole or type(fact.constant) is not int:
            return None
        for premise in known:
            if type(premise.constant) is int and _bound_implies(premise, fact.operator, fact.constant):
                return [*evidence, premise.text]
        return None

    def _is_integer(self, subject: str) -> tuple[bool, list[str]]:
        """Returns (whether an expression is an int wherever it can be read, the premise for it)."""
        if self.has(f"type({subject}) is int"):
            return True, [f"type({subject}) is int"]
        if subject.startswith(("len(", "dict.__len__(")) and subject.endswith(")"):
            return True, []
        owner, _, call = subject.rpartition(".")
        method, _, argument = call.removesuffix(")").partition("(")
        if (method in ("size", "stride") and argument.isdigit()) or call in ("dim()", "numel()"):
            plain_class = self._first(f"type({owner}) is {name}" for name in _PLAIN_TENSORS)
            return plain_class is not None, plain_class or []
        return False, []


def _argument(text: str, before: str, behind: str) -> str | None:
    """Returns the text between two others if it is one whole expression; None if it is not."""
    if not (text.startswith(before) and text.endswith(behind)) or len(text) <= len(before) + len(behind):
        return None
    inside = text[len(before) : len(text) - len(behind)]
    try:
        ast.parse(inside, mode="eval")
    except SyntaxError:
        return None
    return inside


def _holds(value: object, operator: str, constant: object) -> bool:
    """True if the comparison of two constants of one class holds."""
    if operator == "==":
        return value == constant
    if operator == "!=":
        return value != constant
    if not isinstance(value, int) or not isinstance(constant, int):
        return False
    if operator in ("<", "<="):
        return value < constant or (operator == "<=" and value == constant)
    return operator in (">", ">=") and (value > constant or (operator == ">=" and value == constant))


def _bound_implies(premise: _Fact, operator: str, constant: int) -> bool:
    """True if a bound of an integer implies another comparison of the same integer."""
    assert isinstance(premise.constant, int)
    least = greatest = None
    if premise.operator in (">", ">="):
        least = premise.constant + (premise.operator == ">")
    elif premise.operator in ("<", "<="):
        greatest = premise.constant - (premise.operator == "<")
    if least is not None:
        return operator in (">", ">=", "!=") and least >= constant + (operator in (">", "!="))
    if greatest is not None:
        return operator in ("<", "<=", "!=") and greatest <= constant - (operator in ("<", "!="))
    return False
