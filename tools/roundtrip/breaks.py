#!/usr/bin/env python3
"""Measure whether decompiled functions have the line breaks of their sources.

    breaks.py --python python3.12 --count 300 FOLDER...

Takes the files that the formatter leaves as they are, so that their layout follows one known style. Two functions have the same
breaks if they have the same tokens on each line; comments, blank lines, trailing commas, parentheses (which only group), the
kind of quotes and the spelling of a number do not count.

The compiler drops some text without a trace: the annotation of a local variable, the brackets that tell a list from a tuple if
it is only iterated over, searched or assigned to, and the order of a set of constants. A text counts as dropped if the source without it has the same
bytecode with the same positions, down to the column. Dropped texts do not count either; how many functions hold some, and the share
without this rule, are printed too.
"""

import argparse
import ast
import collections
import io
import random
import shutil
import subprocess
import sys
import tempfile
import tokenize
from pathlib import Path

import roundtrip

# A program that compiles two sources, and prints whether their code objects are equal, including positions.
SAME_CODE = """
import sys, types
def parts(code):
    yield code.co_code, code.co_names, code.co_varnames, code.co_cellvars, code.co_freevars, code.co_exceptiontable
    yield code.co_flags, code.co_name, code.co_argcount, tuple(code.co_positions())
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from parts(constant)
        else:
            yield type(constant), sorted(map(repr, constant)) if isinstance(constant, frozenset) else repr(constant)
first, second = (list(parts(compile(open(path, encoding="utf-8").read(), "module.py", "exec"))) for path in sys.argv[1:])
print(first == second)
"""
SKIPPED = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def lines_of(source: str) -> dict[int, list[str]]:
    """Return the tokens of each line, by its number, without comments, parentheses and trailing commas, and with
    strings and numbers in one spelling."""
    tokens = [each for each in tokenize.generate_tokens(io.StringIO(source).readline) if each.type not in SKIPPED]
    lines: dict[int, list[str]] = collections.defaultdict(list)
    for token, following in zip(tokens, [*tokens[1:], None]):
        text = token.string
        if text == "," and following is not None and following.string in (")", "]", "}", "=", "in"):
            continue
        if text in ("(", ")"):
            lines[token.start[0]] += []
            continue
        if token.type == tokenize.STRING:
            try:
                text = repr(ast.literal_eval(text))
            except (SyntaxError, ValueError):
                text = text.replace("'", '"')
        elif token.type == tokenize.NUMBER:
            text = repr(ast.literal_eval(text))
        elif token.type not in (tokenize.NAME, tokenize.OP):
            text = text.replace("'", '"')
        lines[token.start[0]].append(text)
    return lines


Change = list[tuple[int, int, int, str]]
"""Texts that are replaced together, each as (line, start column, end column, new text)."""


def dropped(source: str) -> list[Change]:
    """Return the texts that the compiler may drop, each with a replacement that may compile to the same code."""
    changes: list[Change] = []
    lines = source.splitlines()

    def span(line: int, start: int, end: int, text: str) -> tuple[int, int, int, str]:
        before = lines[line - 1].encode()
        return (line, len(before[:start].decode()), len(before[:end].decode()), text)

    def annotation(node: ast.AnnAssign) -> None:
        last = node.value.lineno if node.value else node.end_lineno
        if not (node.lineno == node.annotation.end_lineno == last):
            return
        start = (node.target.end_col_offset or 0) if node.value else node.col_offset
        line, start, end, _ = span(node.lineno, start, node.annotation.end_col_offset or 0, "")
        changes.append([(line, start, end, " " * (end - start))])

    def brackets(node: ast.expr) -> None:
        if isinstance(node, ast.List) and len(node.elts) > 1:
            end, end_column = node.end_lineno or 0, node.end_col_offset or 1
            opening = span(node.lineno, node.col_offset, node.col_offset + 1, "(")
            changes.append([opening, span(end, end_column - 1, end_column, ")")])

    def order(node: ast.Set) -> None:
        # For `x in {2, 1}`, the compiler creates a frozenset, which has no order, and depyf prints its elements sorted.
        elements = node.elts
        if not all(isinstance(each, ast.Constant) and each.lineno == each.end_lineno for each in elements):
            return
        texts = [ast.get_source_segment(source, each) or "" for each in elements]
        values = [each.value for each in elements if isinstance(each, ast.Constant)]
        if len({type(value) for value in values}) != 1 or type(values[0]) not in (str, int):
            return
        in_order = [text for _, text in sorted(zip(values, texts))]
        if in_order != texts and "\n" not in "".join(texts):
            changes.append(
                [
                    span(each.lineno, each.col_offset, each.end_col_offset or 0, text)
                    for each, text in zip(elements, in_order)
                ]
            )

    def walk(node: ast.AST, in_function: bool) -> None:
        if in_function and isinstance(node, ast.AnnAssign):
            annotation(node)
        if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            brackets(node.iter)
        if isinstance(node, ast.List) and isinstance(node.ctx, ast.Store):
            brackets(node)
        if isinstance(node, ast.Set):
            order(node)
        if isinstance(node, ast.Compare):
            for operator, operand in zip(node.ops, node.comparators):
                if isinstance(operator, ast.In | ast.NotIn):
                    brackets(operand)
        for child in ast.iter_child_nodes(node):
            scope = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            walk(child, scope or (in_function and not isinstance(node, ast.ClassDef)))

    walk(ast.parse(source), False)
    return changes


def changed(source: str, changes: list[Change]) -> str:
    """Return the source after some changes."""
    lines = source.splitlines(keepends=True)
    # Texts are replaced from right to left, because the elements of a set may have other lengths, which moves the
    # columns behind them.
    for number, start, end, text in sorted((each for change in changes for each in change), reverse=True):
        line = lines[number - 1]
        lines[number - 1] = line[:start] + text + line[end:]
    return "".join(lines)


def read_source(file: str) -> str:
    """Return the text of a source in the encoding that it declares."""
    with tokenize.open(file) as stream:
        return stream.read()


def without_dropped(file: str, python: str, scratch: str) -> str:
    """Return the source of a file without the texts that the compiler is proved to drop."""
    source = read_source(file)
    variant = Path(scratch) / "variant.py"

    def proved(changes: list[Change]) -> list[Change]:
        """Return the changes that do not change the bytecode and its positions, found by bisection."""
        if not changes:
            return []
        variant.write_text(changed(source, changes), encoding="utf-8")
        command = [python, "-c", SAME_CODE, file, str(variant)]
        if subprocess.run(command, capture_output=True, text=True, check=False).stdout == "True\n":
            return changes
        half = len(changes) // 2
        return proved(changes[:half]) + proved(changes[half:]) if half else []

    return changed(source, proved(dropped(source)))


def formatted(files: list[str]) -> list[str]:
    """Return the files that the formatter leaves as they are.

    The formatter runs on copies, which are compared with the files, because the form of its reports differs between
    releases.
    """
    with tempfile.TemporaryDirectory() as scratch:
        copies = {file: Path(scratch) / f"{number}.py" for number, file in enumerate(files)}
        for file, copy in copies.items():
            shutil.copyfile(file, copy)
        ruff = [sys.executable, "-m", "ruff", "format", "--isolated", "--line-length", "88", "--no-cache", "--quiet"]
        subprocess.run([*ruff, scratch], check=False)
        return [file for file, copy in copies.items() if copy.read_bytes() == Path(file).read_bytes()]


def functions(source: str) -> dict[str, list[list[str]]]:
    """Return, by qualified name, the lines of each function, without the lines of its decorators."""
    lines = lines_of(source)
    result: dict[str, list[list[str]]] = {}

    def walk(node: ast.AST, path: str) -> None:
        for child in ast.iter_child_nodes(node):
            name = path
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                name = f"{path}/{child.name}"
                if not isinstance(child, ast.ClassDef):
                    number = 1
                    while f"{name}#{number}" in result:
                        number += 1
                    end = child.end_lineno or child.lineno
                    result[f"{name}#{number}"] = [lines[at] for at in range(child.lineno, end + 1) if at in lines]
            walk(child, name)

    walk(ast.parse(source), "")
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", help="a folder with Python files")
    parser.add_argument(
        "--python",
        default=sys.executable,
        help="the interpreter that compiles the sources; Python 3.11 or later (default: this interpreter)",
    )
    parser.add_argument(
        "--command",
        default=f"{roundtrip.HERE.parent.parent}/build/dev/depyf-decompile",
        help="the path of depyf-decompile (default: that of the dev build)",
    )
    parser.add_argument("--count", type=int, default=300, help="the number of files (default: 300)")
    parser.add_argument("--seed", type=int, default=1, help="the seed that draws the files (default: 1)")
    parser.add_argument("--show", type=int, default=0, help="print this number of differences (default: 0)")
    args = parser.parse_args()
    files = sorted(str(path) for folder in args.folders for path in Path(folder).rglob("*.py"))
    files = random.Random(args.seed).sample(files, min(len(files), 4 * args.count))
    files = [file for file in formatted(files) if Path(file).stat().st_size > 0][: args.count]
    same = total = comparable = strictly_same = holding_dropped = 0
    shown: list[str] = []
    longest: list[str] = []
    with tempfile.TemporaryDirectory() as scratch:
        worker = roundtrip.Worker(args.python)
        for file in files:
            pyc = f"{scratch}/module.pyc"
            reply = worker.ask(do="compile", src=file, pyc=pyc, name="module.py")
            if not reply or not reply["ok"]:
                continue
            text = subprocess.run([args.command, "-q", pyc], capture_output=True, text=True, check=False).stdout
            source = read_source(file)
            longest_there = max(map(len, source.splitlines()), default=0)
            longest += [f"{file}: {line}" for line in text.splitlines() if len(line) > max(120, longest_there)]
            try:
                printed = functions(text)
            except (SyntaxError, tokenize.TokenError):
                continue
            written = functions(source)
            for name, lines in functions(without_dropped(file, args.python, scratch)).items():
                total += 1
                strictly_same += printed.get(name) == written[name]
                holding_dropped += lines != written[name]
                comparable += name in printed and sum(printed[name], []) == sum(lines, [])
                if printed.get(name) == lines:
                    same += 1
                    continue
                theirs = printed.get(name, [])
                at = next((at for at, pair in enumerate(zip(lines, theirs)) if pair[0] != pair[1]), len(lines) - 1)
                shown.append(
                    f"{file}: {name}\n"
                    + "".join(
                        f"  {sign} {' '.join(line)[:150]}\n"
                        for sign, block in (("-", lines), ("+", theirs))
                        for line in block[max(0, at - 1) : at + 3]
                    )
                )
        worker.close()
    random.Random(args.seed).shuffle(shown)
    print("\n".join(shown[: args.show]))
    print(f"{same} of {total} functions ({100 * same / max(total, 1):.1f} %) have the line breaks of their source")
    print(
        f"{strictly_same} ({100 * strictly_same / max(total, 1):.1f} %) if dropped texts count: "
        f"{holding_dropped} functions hold some, each proved by equal bytecode and positions without it"
    )
    print(f"{same} of the {comparable} ({100 * same / max(comparable, 1):.1f} %) that have its tokens at all")
    print(
        f"{len(longest)} lines have more than 120 columns and more than any line of their source", *longest, sep="\n  "
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
