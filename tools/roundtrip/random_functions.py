"""Writes random functions of all kinds of statements and most kinds of expressions, for random_programs.py. The text of
a function depends only on the version and the random number generator; a few functions do not compile."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

NAMES = ["a", "b", "c", "x", "y"]
OPERATORS = ["+", "-", "*", "/", "//", "%", "**", "@", "<<", ">>", "&", "|", "^"]
COMPARISONS = ["<", "<=", ">", ">=", "==", "!=", "is", "is not", "in", "not in"]
CONSTANTS = [
    "0",
    "1",
    "7",
    "2.5",
    "1j",
    "None",
    "True",
    "False",
    "...",
    "'t'",
    '"it\'s"',
    "b'z'",
    "(1, 2)",
    "'{}'",
    r"'\n\\'",
]
PIECES = ["t", "it's", '\\"', "{{", "}}", " ", "\\n", "\\\\", "é"]


class Function:
    """Writes one random function for a version of CPython."""

    def __init__(self, rng: random.Random, version: tuple[int, int]):
        self.rng = rng
        self.version = version
        self.lines: list[str] = []
        self.is_async = rng.random() < 0.15
        self.yields = rng.random() < 0.15
        self.loops = 0  # the number of loops around the current statement
        self.in_final = False  # True in a finally clause, where 3.14 warns about `return`, `break` and `continue`

    def text(self, name: str) -> str:
        self.lines = [f"{'async ' if self.is_async else ''}def {name}({self.parameters()}):"]
        self.block(1, 3 + self.rng.randrange(2))
        return "\n".join(self.lines)

    def pick(self, *choices: Callable[[], str]) -> str:
        return self.rng.choice(choices)()

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def parameters(self) -> str:
        parts = ["a", "b", f"c={self.rng.choice(CONSTANTS)}"]
        if self.chance(0.3):
            parts.append("*rest")
        if self.chance(0.3):
            parts += ["k=1"] if "*rest" in parts else ["*", "k=1"]
        if self.chance(0.2):
            parts.append("**options")
        return ", ".join(parts)

    # The methods for expressions take the depth to which the expression may nest, and put each operand in parentheses.

    def name(self) -> str:
        return self.rng.choice([*NAMES, "f", "g", "self"])

    def expr(self, depth: int) -> str:
        if depth <= 0:
            return self.rng.choice([self.name(), self.name(), self.rng.choice(CONSTANTS)])
        kinds = [
            self.call,
            self.call,
            self.binary,
            self.boolean,
            self.boolean,
            self.comparison,
            self.ternary,
            self.unary,
        ]
        kinds += [
            self.attribute,
            self.subscript,
            self.display,
            self.comprehension,
            self.fstring,
            self.walrus,
            self.lambda_,
        ]
        if self.yields and not self.is_async and self.chance(0.2):
            kinds.append(self.yielded)
        if self.is_async and self.chance(0.3):
            kinds.append(lambda depth: f"(await {self.operand(depth - 1)})")
        return self.rng.choice(kinds)(depth)

    def operand(self, depth: int) -> str:
        """Returns an expression in parentheses. The expression is no constant, because the compiler folds operations on
        constants, and the prover does not."""
        text = self.name() if depth <= 0 else self.expr(depth)
        return text if re.fullmatch(r"[a-z]+", text) else f"({text})"

    def joined(self, parts: list[str], separator: str) -> str:
        """Joins operands with a separator, sometimes on several lines, because line breaks may change the bytecode."""
        break_ = "\n" + " " * self.rng.randrange(8) if self.chance(0.2) else " "
        return separator.replace(" ", break_, 1).join(parts)

    def binary(self, depth: int) -> str:
        operator = f" {self.rng.choice(OPERATORS)} "
        return "(" + self.joined([self.operand(depth - 1), self.operand(depth - 1)], operator) + ")"

    def boolean(self, depth: int) -> str:
        parts = [self.operand(depth - 1) for _ in range(self.rng.choice([2, 2, 3]))]
        return "(" + self.joined(parts, self.rng.choice([" and ", " or "])) + ")"

    def comparison(self, depth: int) -> str:
        parts = [self.operand(depth - 1)]
        for _ in range(self.rng.choice([1, 1, 1, 2])):
            parts.append(f"{self.rng.choice(COMPARISONS)} {self.operand(depth - 1)}")
        return "(" + self.joined(parts, " ") + ")"

    def ternary(self, depth: int) -> str:
        parts = [self.operand(depth - 1), f"if {self.operand(depth - 1)}", f"else {self.operand(depth - 1)}"]
        return "(" + self.joined(parts, " ") + ")"

    def unary(self, depth: int) -> str:
        return f"({self.rng.choice(['not ', 'not ', '-', '~'])}{self.operand(depth - 1)})"

    def attribute(self, depth: int) -> str:
        return f"{self.operand(depth - 1)}.{self.name()}"

    def subscript(self, depth: int) -> str:
        index = self.pick(
            lambda: self.expr(depth - 1),
            lambda: f"{self.expr(0)}:{self.expr(0)}",
            lambda: f"::{self.expr(0)}",
            lambda: f"{self.expr(0)}, {self.expr(0)}:",
        )
        return f"{self.operand(depth - 1)}[{index}]"

    def call(self, depth: int) -> str:
        arguments = [self.expr(depth - 1) for _ in range(self.rng.randrange(3))]
        if self.chance(0.15):
            arguments.append(f"*{self.operand(depth - 1)}")
        arguments += [
            f"{name}={self.expr(depth - 1)}" for name in self.rng.sample(["k", "m"], self.rng.choice([0, 0, 1, 2]))
        ]
        if self.chance(0.1):
            arguments.append(f"**{self.operand(depth - 1)}")
        function = self.pick(self.name, lambda: f"{self.name()}.{self.name()}", lambda: self.operand(depth - 1))
        return f"{function}({self.joined(arguments, ', ')})"

    def display(self, depth: int) -> str:
        parts = [self.expr(depth - 1) for _ in range(self.rng.randrange(4))]
        if self.chance(0.2):
            parts.insert(self.rng.randrange(len(parts) + 1), f"*{self.operand(depth - 1)}")
        pairs = [f"{self.expr(0)}: {self.expr(depth - 1)}" for _ in range(self.rng.randrange(3))]
        if self.chance(0.2):
            pairs.append(f"**{self.operand(depth - 1)}")
        return self.pick(
            lambda: "[" + self.joined(parts, ", ") + "]",
            lambda: "(" + "".join(part + ", " for part in parts) + ")",
            lambda: "{" + self.joined(parts, ", ") + "}" if parts else "[]",
            lambda: "{" + self.joined(pairs, ", ") + "}",
        )

    def comprehension(self, depth: int) -> str:
        clauses = ""
        for index in range(self.rng.choice([1, 1, 2])):
            clauses += (
                f" for {self.rng.choice(['i', 'i, j', 'x'])} in {self.operand(depth - 1) if index else self.name()}"
            )
            if self.chance(0.4):
                clauses += f" if {self.operand(max(depth - 2, 0))}"
        # A comprehension may contain neither a yield nor, in the parts that are replaced here, an assignment expression.
        clauses = re.sub(r"\(\w+ := ", "(f or ", clauses).replace("(yield", "(not")
        element = self.operand(depth - 1).replace(":=", "or").replace("(yield", "(not")
        return self.pick(
            lambda: f"[{element}{clauses}]",
            lambda: f"{{{element}{clauses}}}",
            lambda: f"{{i: {element}{clauses}}}",
            lambda: f"sum({element}{clauses})",
        )

    def fstring(self, depth: int) -> str:
        quote = self.rng.choice(['"', "'", '"""', "'''"])
        text = ""
        for _ in range(self.rng.randrange(1, 5)):
            if self.chance(0.5):
                text += self.rng.choice(PIECES)
                continue
            value = self.operand(min(depth - 1, 1))
            if self.version < (3, 12) and (re.search(r"[\\\n#]", value) or any(each in value for each in ("'", '"'))):
                value = self.name()
            conversion = self.rng.choice(["", "", "!r", "!s", "!a"])
            spec = self.rng.choice(["", "", ":>10", ":{b}", ":{b}.{c!r}"])
            text += f"{{{value}{conversion}{spec}}}"
        if len(quote) == 1:
            text = text.replace("\n", " ")
        text = text.replace("it's", "its") if quote[0] == "'" else text.replace('\\"', "q")
        if self.version < (3, 12) and re.search(r"\{[^}]*\n", text):
            return "f'{a}'"
        return f"f{quote}{text}{quote}"

    def walrus(self, depth: int) -> str:
        return f"({self.rng.choice(NAMES)} := {self.operand(depth - 1)})"

    def lambda_(self, depth: int) -> str:
        body = self.operand(depth - 1).replace("(await ", "(not ").replace("(yield", "(not")
        return f"(lambda {self.rng.choice(['', 'x', 'x, y=1', '*z'])}: {body})"

    def yielded(self, depth: int) -> str:
        return self.rng.choice(
            [f"(yield {self.operand(depth - 1)})", f"(yield from {self.operand(depth - 1)})", "(yield)"]
        )

    # The methods for statements append lines that are indented by `indent` levels.

    def put(self, indent: int, text: str) -> None:
        self.lines.append("    " * indent + text)

    def block(self, indent: int, depth: int) -> None:
        for _ in range(self.rng.choice([1, 1, 2, 3])):
            self.statement(indent, depth)

    def target(self) -> str:
        return self.pick(
            lambda: self.rng.choice(NAMES),
            lambda: self.rng.choice(NAMES),
            lambda: f"{self.name()}.{self.name()}",
            lambda: f"{self.name()}[{self.expr(1)}]",
            lambda: f"{self.rng.choice(NAMES)}, {self.rng.choice(NAMES)}",
            lambda: f"{self.rng.choice(NAMES)}, *{self.rng.choice(NAMES)}",
        )

    def simple(self, indent: int) -> None:
        expr = lambda: self.expr(self.rng.choice([0, 1, 1, 2, 3]))  # noqa: E731
        choices = [
            lambda: expr(),
            lambda: f"{self.name()}({expr()})",
            lambda: f"{self.target()} = {expr()}",
            lambda: f"{self.target()} = {expr()}",
            lambda: f"{self.target()} = {self.target()} = {expr()}",
            lambda: f"{self.rng.choice(NAMES)} {self.rng.choice(OPERATORS)}= {expr()}",
            lambda: f"{self.name()}.{self.name()} {self.rng.choice(OPERATORS)}= {expr()}",
            lambda: f"del {self.name()}.{self.name()}",
            lambda: f"assert {expr()}" + (f", {expr()}" if self.chance(0.5) else ""),
            lambda: "raise" + (f" {self.operand(1)}" + (f" from {self.operand(1)}" if self.chance(0.3) else "")),
            lambda: "pass",
            lambda: f"import {self.rng.choice(['os', 'os.path', 'os.path as p', 'os as x'])}",
            lambda: f"from os import {self.rng.choice(['path', 'path as x', 'path, sep'])}",
        ]
        if not self.in_final:
            value = "" if self.is_async and self.yields else f" {expr()}"
            choices.append(lambda: "return" + (value if self.chance(0.7) else ""))
            if self.loops:
                choices += [lambda: "break", lambda: "continue"] * 2
        if self.is_async and self.yields:
            choices.append(lambda: f"yield {expr()}")
        self.put(indent, self.rng.choice(choices)())

    def statement(self, indent: int, depth: int) -> None:
        if depth <= 0 or self.chance(0.35):
            return self.simple(indent)
        kinds = [
            self.if_,
            self.if_,
            self.if_,
            self.while_,
            self.for_,
            self.for_,
            self.try_,
            self.try_,
            self.with_,
            self.nested,
        ]
        if self.version >= (3, 10):
            kinds.append(self.match)
        return self.rng.choice(kinds)(indent, depth - 1)

    def condition(self) -> str:
        return self.expr(self.rng.choice([0, 1, 2, 2]))

    def if_(self, indent: int, depth: int) -> None:
        self.put(indent, f"if {self.condition()}:")
        self.block(indent + 1, depth)
        while self.chance(0.25):
            self.put(indent, f"elif {self.condition()}:")
            self.block(indent + 1, depth)
        if self.chance(0.4):
            self.put(indent, "else:")
            self.block(indent + 1, depth)

    def loop(self, indent: int, depth: int, head: str) -> None:
        self.put(indent, head)
        in_final, self.in_final = self.in_final, False
        self.loops += 1
        self.block(indent + 1, depth)
        self.loops -= 1
        self.in_final = in_final
        if self.chance(0.25):
            self.put(indent, "else:")
            self.block(indent + 1, depth)

    def while_(self, indent: int, depth: int) -> None:
        self.loop(indent, depth, f"while {self.rng.choice(['True', self.condition(), self.condition()])}:")

    def for_(self, indent: int, depth: int) -> None:
        prefix = "async " if self.is_async and self.chance(0.3) else ""
        self.loop(indent, depth, f"{prefix}for {self.target()} in {self.expr(1)}:")

    def try_(self, indent: int, depth: int) -> None:
        self.put(indent, "try:")
        self.block(indent + 1, depth)
        handlers = self.rng.choice([0, 1, 1, 2])
        for _ in range(handlers):
            self.put(indent, f"except {self.rng.choice(['OSError', '(A, B)', 'f.E'])}{self.rng.choice(['', ' as e'])}:")
            self.block(indent + 1, depth)
        if handlers and self.chance(0.2):
            self.put(indent, "except:")
            self.block(indent + 1, depth)
        if handlers and self.chance(0.3):
            self.put(indent, "else:")
            self.block(indent + 1, depth)
        if not handlers or self.chance(0.25):
            self.put(indent, "finally:")
            in_final, self.in_final = self.in_final, True
            self.block(indent + 1, depth)
            self.in_final = in_final

    def with_(self, indent: int, depth: int) -> None:
        prefix = "async " if self.is_async and self.chance(0.3) else ""
        items = [
            self.operand(1)
            + self.rng.choice(["", "", f" as {self.rng.choice(NAMES)}", f" as {self.name()}.{self.name()}"])
            for _ in range(self.rng.choice([1, 1, 2]))
        ]
        self.put(indent, f"{prefix}with {', '.join(items)}:")
        self.block(indent + 1, depth)

    def nested(self, indent: int, depth: int) -> None:
        inner = Function(self.rng, self.version)
        head = f"def g({inner.parameters()}):"
        if self.chance(0.2):
            self.put(indent, f"class C({self.name()}):")
            self.put(indent + 1, f"{self.rng.choice(NAMES)} = {inner.expr(1)}".replace("(yield", "(not"))
            indent += 1
        inner.is_async = False
        inner.put(indent, head)
        inner.block(indent + 1, min(depth, 1))
        self.lines += inner.lines

    def match(self, indent: int, depth: int) -> None:
        self.put(indent, f"match {self.expr(1)}:")
        for _ in range(self.rng.choice([1, 2, 3])):
            pattern = self.rng.choice(
                [
                    "1",
                    "'t'",
                    "[p, q]",
                    "[p, *q]",
                    "{'k': p}",
                    "{'k': 1, **q}",
                    "C(p, k=1)",
                    "1 | 2",
                    "f.E",
                    "[1, C()] as p",
                ]
            )
            guard = f" if {self.condition()}" if self.chance(0.3) else ""
            self.put(indent + 1, f"case {pattern}{guard}:")
            self.block(indent + 2, depth - 1)
        if self.chance(0.4):
            self.put(indent + 1, f"case {self.rng.choice(['_', 'p'])}:")
            self.block(indent + 2, depth - 1)
