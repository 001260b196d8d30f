"""Prints trees and constants with the core, parses the printed text, and prints the differences. This program runs on
3.8 and later.

Usage: print_roundtrip.py TEST_EXECUTABLE trees FILE...
       print_roundtrip.py TEST_EXECUTABLE constants COUNT
       print_roundtrip.py TEST_EXECUTABLE style      # each file of print_style/ is printed as it was written
"""

import ast
import difflib
import math
import os
import random
import struct
import subprocess
import sys
import tempfile
import warnings

import tree_writer


def run(executable, case, data):
    with tempfile.TemporaryDirectory() as folder:
        trees, printed = os.path.join(folder, "trees"), os.path.join(folder, "printed")
        with open(trees, "wb") as file:
            file.write(data)
        subprocess.run(
            [executable, "--no-skip", "-tc=" + case],
            check=True,
            stdout=subprocess.DEVNULL,
            env=dict(os.environ, DEPYF_TREES=trees, DEPYF_PRINTED=printed),
        )
        with open(printed, "rb") as file:
            return file.read()


class Folded(ast.NodeTransformer):
    """Folds negative numbers and tuples of constants, as the compiler does. No source is parsed to a tree with folded
    constants."""

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        if (
            isinstance(node.op, ast.USub)
            and isinstance(node.operand, ast.Constant)
            and type(node.operand.value) in (int, float)
        ):
            return ast.Constant(-node.operand.value)
        return node

    def visit_Tuple(self, node):
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load) and node.elts and all(isinstance(each, ast.Constant) for each in node.elts):
            return ast.Constant(tuple(each.value for each in node.elts))
        return node

    def visit_MatchValue(self, node):
        return node

    def visit_MatchMapping(self, node):
        self.generic_visit(node)
        return node


class Plain(ast.NodeTransformer):
    """Removes differences that the tree of the core does not represent."""

    def visit_Constant(self, node):
        node.kind = None
        return node

    def visit_JoinedStr(self, node):
        self.generic_visit(node)
        values = []
        for each in node.values:  # some versions do not join adjacent strings, and keep empty strings
            if isinstance(each, ast.Constant) and values and isinstance(values[-1], ast.Constant):
                values[-1] = ast.Constant(values[-1].value + each.value)
            elif not (isinstance(each, ast.Constant) and each.value == ""):
                values.append(each)
        node.values = values
        return node

    visit_TemplateStr = visit_JoinedStr

    def visit_Import(self, node):
        if hasattr(node, "is_lazy"):
            node.is_lazy = 0
        return node

    visit_ImportFrom = visit_Import

    def visit_body(self, node):
        self.generic_visit(node)
        if sys.version_info >= (3, 13) and ast.get_docstring(node, clean=False):
            node.body[0].value = ast.Constant(without_indent(node.body[0].value.value))
        return node

    visit_Module = visit_ClassDef = visit_FunctionDef = visit_AsyncFunctionDef = visit_body


def without_indent(docstring):
    """Returns a docstring without its indentation, as the compiler of 3.13 and later stores it."""
    first, *rest = docstring.expandtabs(8).split("\n")
    margin = min((len(line) - len(line.lstrip(" ")) for line in rest if line.strip(" ")), default=0)
    strip = lambda line: line[min(margin, len(line) - len(line.lstrip(" "))) :]
    return "\n".join([first.lstrip(" ")] + list(map(strip, rest)))


def dump(tree):
    return ast.dump(Plain().visit(tree))


def check_trees(executable, paths):
    sources = []
    for path in paths:
        try:
            with open(path, "rb") as file:
                source = file.read()
            ast.parse(source)
            sources.append((path, source))
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            pass
    for fold in (False, True):
        parse = (lambda source: Folded().visit(ast.parse(source))) if fold else ast.parse
        printed = run(
            executable, "print trees from a file", b"".join(tree_writer.module(parse(source)) for _, source in sources)
        )
        for path, source in sources:
            size, _, printed = printed.partition(b"\n")
            text, printed = printed[: int(size)], printed[int(size) :]
            try:
                back = parse(text)
            except SyntaxError as error:
                yield "%s: %s: %r" % (path, error, error.text)
                continue
            if dump(back) != dump(parse(source)):
                yield "%s: %s" % (path, difference(parse(source), back))


def check_style(executable):
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "print_style")
    for name in sorted(os.listdir(folder)):
        if name > "py%d%02d.txt" % sys.version_info[:2]:
            continue
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            source = file.read()
        printed = run(executable, "print trees from a file", tree_writer.module(ast.parse(source)))
        text = printed.partition(b"\n")[2].decode()
        if text != source:
            yield "".join(difflib.unified_diff(source.splitlines(True), text.splitlines(True), name, "printed", n=0))


def difference(one, two, where=""):
    """Returns a text of the smallest pair of subtrees that differ; "" if the trees are equal."""
    if dump(one) == dump(two):
        return ""
    ones, twos = list(ast.iter_child_nodes(one)), list(ast.iter_child_nodes(two))
    if type(one) is type(two) and len(ones) == len(twos):
        for a, b in zip(ones, twos):
            found = difference(a, b)
            if found:
                return found
    return "line %s: %.300s became %.300s" % (getattr(one, "lineno", "?"), dump(one), dump(two))


def random_float(rng):
    special = [
        0.0,
        -0.0,
        math.inf,
        -math.inf,
        math.nan,
        1.0,
        -1.0,
        1e16,
        1e-5,
        1e22,
        5e-324,
        1.7976931348623157e308,
        1e15,
        0.1,
    ]
    if rng.random() < 0.5:
        return rng.choice(special)
    return rng.choice(
        [
            struct.unpack("<d", rng.getrandbits(64).to_bytes(8, "little"))[0],
            rng.random(),
            float(rng.randrange(10**6)),
            rng.randrange(10**20) / 1000,
        ]
    )


def random_text(rng):
    choices = [
        "'",
        '"',
        "\\",
        "\n",
        "\r",
        "\t",
        "\0",
        "{",
        "}",
        "a",
        " ",
        "\x7f",
        "\x85",
        "\xa0",
        "\xad",
        "é",
        "\u2028",
        "\u3000",
        "中",
        "\ud800",
        "\udfff",
        "\ue000",
        "\U0001f600",
        "\U000e0001",
        "\ufeff",
        "\u200b",
        "\N{COMBINING ACUTE ACCENT}",
        "'''",
        '"""',
    ]
    return "".join(
        rng.choice(choices) if rng.random() < 0.8 else chr(rng.randrange(0x110000)) for _ in range(rng.randrange(8))
    )


def random_constant(rng, depth=0):
    kind = rng.randrange(9 if depth < 3 else 7)
    if kind == 0:
        return rng.choice([None, True, False, ...])
    if kind == 1:
        return rng.choice([1, -1]) * rng.getrandbits(rng.choice([1, 8, 63, 64, 65, 5000]))
    if kind == 2:
        return random_float(rng)
    if kind == 3:
        return complex(random_float(rng), random_float(rng))
    if kind in (4, 5):
        return random_text(rng)
    if kind == 6:
        return bytes(
            rng.choice(b"'\"\\\n\t\ra\x00\xff") if rng.random() < 0.7 else rng.randrange(256)
            for _ in range(rng.randrange(6))
        )
    items = [random_constant(rng, depth + 1) for _ in range(rng.randrange(4))]
    return tuple(items) if kind == 7 else frozenset(items)


def same(one, two):
    if type(one) is not type(two):
        return False
    if isinstance(one, float):
        return math.isnan(one) and math.isnan(two) or struct.pack("d", one) == struct.pack("d", two)
    if isinstance(one, complex):
        return same(one.real, two.real) and same(one.imag, two.imag)
    if isinstance(one, tuple):
        return len(one) == len(two) and all(map(same, one, two))
    if isinstance(one, frozenset):
        return len(one) == len(two) and all(any(same(a, b) for b in two) for a in one)
    return one == two


class FrozenSets(ast.NodeTransformer):
    def visit_Set(self, node):
        self.generic_visit(node)
        name = ast.copy_location(ast.Name("frozenset", ast.Load()), node)
        return ast.copy_location(ast.Call(name, [node], []), node)


def check_constants(executable, count):
    rng = random.Random(1)
    constants = [random_constant(rng) for _ in range(count)]
    lines = run(executable, "print constants from a file", b"".join(map(tree_writer.constant, constants))).split(b"\n")
    for value, line in zip(constants, lines):
        tree = FrozenSets().visit(ast.parse(line, mode="eval"))
        back = eval(compile(tree, "<constant>", "eval"))
        if not same(value, back):
            yield "%r became %r" % (value, line)
        if (
            type(value) in (str, bytes, float)
            and "inf" not in repr(value)
            and value == value
            and line != usual(value).encode()
            and printable_alike(value)
        ):
            yield "%r is not written as usual: %r" % (value, line)


def usual(value):
    """Write a string as repr does, but in double quotes unless single ones need fewer backslashes."""
    if isinstance(value, float):
        return repr(value)
    prefix = "b" if isinstance(value, bytes) else ""
    characters = [value[at : at + 1] for at in range(len(value))]
    texts = [repr(each)[len(prefix) + 1 : -1] for each in characters]
    singles, doubles = texts.count("'"), texts.count('"')
    quote = "'" if doubles > singles else '"'
    return prefix + quote + "".join("\\" + text if text == quote else text for text in texts) + quote


def printable_alike(value):
    """True if every version of Unicode agrees about which characters of the value are printable."""
    return not isinstance(value, str) or all(ord(char) < 0x250 for char in value)


if __name__ == "__main__":
    sys.setrecursionlimit(20000)
    warnings.simplefilter("ignore")
    _, executable, what, *rest = sys.argv
    checks = {
        "trees": lambda: check_trees(executable, rest),
        "constants": lambda: check_constants(executable, int(rest[0])),
        "style": lambda: check_style(executable),
    }
    failures = list(checks[what]())
    print("\n".join(failure.encode("ascii", "backslashreplace").decode() for failure in failures[:40]))
    sys.exit(bool(failures))
