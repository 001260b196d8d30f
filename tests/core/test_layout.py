"""Tests that decompiled lines break where the lines of the source do, and otherwise at the requested width."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from interpreters import compiled, interpreter

ROOT = Path(__file__).parent.parent.parent
COMMAND = os.environ.get("DEPYF_DECOMPILE") or str(ROOT / "build" / "dev" / "depyf-decompile")
# All instructions have the same line, so positions do not decide about line breaks.
LONG = """
def function(first_parameter, second_parameter=None, *arguments, third_parameter=(1, 2, 3), **keywords):
    result = first_parameter.method(second_parameter, third_parameter)[first_parameter, 1:2] or arguments
    if first_parameter and (second_parameter or third_parameter) and not arguments and result is not None:
        return {"key": [item for item in arguments if item], "other": {1, 2, 3}, "last": lambda x: x + 1}
    for a, (b, c) in zip(first_parameter, second_parameter, third_parameter, arguments, result, keywords):
        raise ValueError(f"{a} {b}" + "a text that is long enough to be moved to a line of its own" % c) from None
    with open(first_parameter, second_parameter) as first_file, open(third_parameter) as second_file:
        del first_file.attribute, second_file.attribute, first_parameter.attribute, arguments.attribute
    pairs = {a: b for a, b in zip(first_parameter, second_parameter) if a and not b or third_parameter}
    chosen = lambda first, second=None, *third, fourth, **fifth: sum(a * b for a, b in zip(first, second, third))
    assert isinstance(result, (int, str, bytes)), "a message " + str(result) + " with several parts in it"
    return first_parameter + second_parameter * third_parameter - sum(arguments) if result else [*arguments]
"""


def decompiled(tmp_path: Path, source: str, python: str, *options: str) -> str:
    pyc = compiled(python, source, tmp_path)
    done = subprocess.run([COMMAND, "-q", *options, str(pyc)], capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.parametrize("version", [(3, 8), (3, 10)], ids="{0[0]}.{0[1]}".format)
@pytest.mark.parametrize("width", [30, 60, 100])
def test_width_decides_where_positions_do_not(tmp_path: Path, version: tuple[int, int], width: int) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip("no such interpreter here")
    text = decompiled(tmp_path, LONG, python, "--width", str(width))
    wide = decompiled(tmp_path, LONG, python, "--width", "100000")
    assert ast.dump(ast.parse(text)) == ast.dump(ast.parse(wide))
    assert max(map(len, wide.splitlines())) > 100
    assert width < 100 or max(map(len, text.splitlines())) <= width
    assert len(text.splitlines()) > len(wide.splitlines())


# A line that is too long is split in the brackets of a call, unless it is a chain of calls.
CALLS = """\
found = self.maps.assertions.parser_class(
    first_argument_of_the_call, second_argument_of_the_call, third_argument_of_the_call
)
query = (
    session.query(SomeTable.first_column, SomeTable.second_column)
    .filter(SomeTable.first_column == wanted)
    .order_by(SomeTable.second_column)
)
text = describe(first_argument_of_the_call).format(
    second_argument_of_the_call, third_argument_of_the_call, fourth_argument
)
"""


def test_attributes_stay_with_their_name(tmp_path: Path) -> None:
    python = interpreter((3, 8))
    if python is None:
        pytest.skip("no such interpreter here")
    lines = ast.unparse(ast.parse(CALLS))
    assert min(map(len, lines.splitlines())) > 100
    assert decompiled(tmp_path, lines, python) == CALLS


def test_what_the_source_had_on_one_line_stays_there(tmp_path: Path) -> None:
    long_line = f"value = function({', '.join(f'argument_{number}' for number in range(12))})\n"
    assert len(long_line) > 150
    text = decompiled(tmp_path, long_line, sys.executable)
    assert text == (long_line if sys.version_info >= (3, 11) else text)
    moved = long_line.replace("(", "(\n    ").replace(")", "\n)")
    assert decompiled(tmp_path, moved, sys.executable) == moved


@pytest.mark.parametrize("version", [(3, 8), sys.version_info[:2]], ids="{0[0]}.{0[1]}".format)
def test_deep_nesting_leaves_room_for_the_text(tmp_path: Path, version: tuple[int, int]) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip("no such interpreter here")
    source = "value"
    for depth in range(40):
        source = f"(first_{depth} + second(\n{source},\nthird))\n** fourth_{depth}"
    text = decompiled(tmp_path, f"result = ({source})\n", python)
    assert ast.dump(ast.parse(text)) == ast.dump(ast.parse(f"result = ({source})\n"))
    assert max(map(len, text.splitlines())) <= 120


def test_a_width_that_is_no_number_is_refused(tmp_path: Path) -> None:
    done = subprocess.run([COMMAND, "--width", "wide", str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 2 and "--width" in done.stderr


BROKEN = """def function(
    first: int, second: str
) -> (
    dict[str, int] | None
):
    if first or (
        second is None and not first
    ):
        return [
            (
                first
                if first
                else second
            ),
            second,
        ]
    chosen = first and (
        second.method() or first
    )
    result = (
        first == second
        or not first
        and second
        or (first + second) * 2
    )
    names = {
        name.text
        for name in second.parts
        if not name.is_empty()
    }
    return function(
        first,
        second=(
            first if second else None
        ),
        key=names[
            first + 1:
        ],
    ) + sum(
        first
        for first in (chosen, result)
    )
"""


def test_columns_tell_where_brackets_opened(tmp_path: Path) -> None:
    assert decompiled(tmp_path, BROKEN, sys.executable) == BROKEN


def test_indentation_of_another_width_costs_no_line(tmp_path: Path) -> None:
    source = "def function(first, second):\n" + BROKEN[BROKEN.index("    chosen") :]
    text = decompiled(tmp_path, source.replace("    ", "  "), sys.executable)
    assert ast.dump(ast.parse(text)) == ast.dump(ast.parse(source))
    assert len(text.splitlines()) > len(source.splitlines()) / 2


# Statements from which the compiler keeps only a NOP, or only the position of an added return.
SILENT = """def function(first, second):
    if first == "raise":
        raise ValueError
    elif first == "drop":
        pass
    else:
        first = second
    with first:
        ...
    for name in second:
        if name:
            first += name
        elif first:
            pass
        else:
            del first
    return first


def documented(first):
    \"\"\"A function without statements.\"\"\"
    pass


def declared(first):
    ...


def handled(first):
    try:
        first = int(first)
    except ValueError:
        pass
    else:
        if first:
            return first
    return False


def opened(first):
    with first as value:
        assert value.name
        assert "text" in value
"""

NUMBERS = """function(2**32, 2**33 - 1, 1 << 33, (1 << 50) - 1, 10**9, -2**63, 1_000_000, 0x0000ff)
one = (first,)
for (one,) in first:
    pass
"""

HEADERS = """from __future__ import annotations


def own_line(
    first: int, second: str, third: dict[str, int] | None = None, *others: int, last: str
) -> None:
    pass


def each_line(
    self,
    first: int,
    second: str = "text",
    **others: int,
) -> None:
    pass


def one_line(first: int, second: str = "text") -> None:
    # The body is some lines below.

    #
    return first


def result_line(
    first
) -> None:
    pass
"""


@pytest.mark.parametrize("version", [(3, 11), (3, 12), (3, 13)], ids="{0[0]}.{0[1]}".format)
@pytest.mark.parametrize("source", [SILENT, NUMBERS, HEADERS], ids=["silent", "numbers", "headers"])
def test_what_left_only_positions_comes_back(tmp_path: Path, version: tuple[int, int], source: str) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip("no such interpreter here")
    if source is HEADERS and version == (3, 11):
        pytest.skip("3.11 keeps no positions of annotations that are text")
    text = decompiled(tmp_path, source, python)
    # Comments are lost, and 0x0000ff is printed as a decimal number.
    lines = [line for line in source.replace("0x0000ff", "255").splitlines() if not line.strip().startswith("#")]
    assert [line for line in text.splitlines() if line] == [line for line in lines if line]


def test_a_string_is_divided_evenly(tmp_path: Path) -> None:
    source = """raise ValueError(
    "to apply an operation to datasets with different "
    "data variables with apply_ufunc, you must supply the "
    "dataset_fill_value argument."
)
"""
    assert decompiled(tmp_path, source, sys.executable) == source


STRINGS = """def function(name, value):
    assert name, (
        f"{name!r} has the value {{}} {value}, "
        f"and that is {value + 1} too many: "
        "nobody wants it."
    )
    raise ValueError(
        "a text without fields "
        f"and {name}",
        f"{name}"
        f"{value}",
        f"a text of {name}"
        f" with its prefix",
    )


def implied(name):
    assert name is not None
"""


@pytest.mark.parametrize("version", [(3, 11), (3, 12), (3, 13)], ids="{0[0]}.{0[1]}".format)
def test_strings_are_cut_where_the_source_cut_them(tmp_path: Path, version: tuple[int, int]) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip("no such interpreter here")
    # In 3.11, the literals have no positions, from which the prefix f of a literal without a field could be derived.
    expected = STRINGS.replace('f" with', '" with') if version == (3, 11) else STRINGS
    assert decompiled(tmp_path, STRINGS, python) == expected


# The compiler drops the annotation, which has several lines, so the target is on a line above the value, and the result
# of a comprehension is stored in another order than if target and value are on one line.
ANNOTATED = """
def annotated(pairs):
    by_key: Dict[
        str, List[int]
    ] = {
        key: [value for value in values]
        for key, values in pairs
    }
    plain = [
        key
        for key in by_key
    ]
    return by_key, plain
"""


@pytest.mark.parametrize("version", [(3, 12), (3, 13), (3, 14)], ids="{0[0]}.{0[1]}".format)
def test_value_of_an_annotated_local_starts_below_it(tmp_path: Path, version: tuple[int, int]) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip("no such interpreter here")
    text = decompiled(tmp_path, ANNOTATED, python, "--check", python)
    assert "# depyf" not in text
    assert "    by_key = (\n        {\n" in text
    assert "    plain = [\n" in text


# Positions show that a backslash joined lines of the docstring, that the text of `header` starts below its quotes, and
# that the string in `message` is not between triple quotes, although it has as many line breaks.
JOINED = '''\
"""The first line of this docstring is longer than a line can be, so that it was \\
continued by a backslash, more than once, until all of what it had to say was said at \\
last.

This line is short.
"""

header = """\\
    The text of {name} starts below its quotes, and has
    a second line""".format(name=name)
message = call(
    "The first of two strings, which is followed "
    "by a second string with line breaks: {}\\nBehind:\\n{}".format(1, 2)
)
'''


@pytest.mark.parametrize("version", [(3, 11), (3, 13), (3, 15)], ids="{0[0]}.{0[1]}".format)
def test_lines_that_a_backslash_joins(tmp_path: Path, version: tuple[int, int]) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip("no such interpreter here")
    assert decompiled(tmp_path, JOINED, python, "--check", python) == JOINED


@pytest.mark.parametrize("version", [(3, 11), (3, 13), (3, 15)], ids="{0[0]}.{0[1]}".format)
def test_a_long_string_with_joined_lines_has_no_long_part(tmp_path: Path, version: tuple[int, int]) -> None:
    """The lines of the source do not suffice for its parts, because each line break of the text ends one."""
    python = interpreter(version)
    if python is None:
        pytest.skip("no such interpreter here")
    words = "a criterion of the evaluation " * 4
    source = f'{"LONG_NAME_OF_A_PROMPT" * 2} = """\\\nBegin \\\n' + f"{words}\n- short\n" * 9 + '"""\n'
    text = decompiled(tmp_path, source, python, "--check", python)
    assert "# depyf" not in text
    assert max(map(len, text.splitlines())) <= 120


WIDE = """\
class Runner:
    def run(
        self,
        handlers: (
            "dict[str, Callable[[TheFirstClass, TheSecondClass], "
            "dict[str, Callable[[TheFirstClass, TheSecondClass]]]]]"
        ) = None,
    ) -> (
        "dict[str, Callable[[TheFirstClass, TheSecondClass], "
        "dict[str, Callable[[TheFirstClass, TheSecondClass]]]]]"
    ):
        super().run(handlers)
"""


@pytest.mark.parametrize("version", [(3, 8), (3, 11), (3, 13), (3, 14)], ids="{0[0]}.{0[1]}".format)
def test_a_wide_annotation_without_a_position_is_divided(tmp_path: Path, version: tuple[int, int]) -> None:
    """Up to 3.13, annotations that are all constants have no positions; from 3.14 on, another code object has them."""
    python = interpreter(version)
    if python is None:
        pytest.skip("no such interpreter here")
    text = decompiled(tmp_path, WIDE, python, "--check", python)
    assert "# depyf" not in text
    assert max(map(len, text.splitlines())) <= 100
    assert ast.dump(ast.parse(text)) == ast.dump(ast.parse(WIDE))


@pytest.mark.parametrize("version", [(3, 11), (3, 13)], ids="{0[0]}.{0[1]}".format)
def test_an_annotation_that_fits_is_not_divided(tmp_path: Path, version: tuple[int, int]) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip("no such interpreter here")
    source = f'def run(\n    handlers: "{"A" * 45} {"B" * 45}",\n) -> "None":\n    return handlers\n'
    assert f'"{"A" * 45} {"B" * 45}"' in decompiled(tmp_path, source, python, "--check", python)


def test_a_wide_annotation_that_is_too_short_to_be_divided(tmp_path: Path) -> None:
    """The indentation makes the line too wide, and the string stays in one piece."""
    python = interpreter((3, 13)) or sys.executable
    depth = 12
    classes = "".join(f"{'    ' * level}class C{level}:\n" for level in range(depth))
    source = f"{classes}{'    ' * depth}def run(self, handlers: '{'A' * 65}') -> 'None':\n"
    source += f"{'    ' * (depth + 1)}return handlers\n"
    assert f'"{"A" * 65}"' in decompiled(tmp_path, source, python, "--check", python)
