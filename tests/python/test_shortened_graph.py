"""Tests of the check whether the text of a graph is Python; the check does not compile the whole text."""

from __future__ import annotations

import random

import pytest

from depyf import _core

PLAIN = [
    'add: "f32[s77, 64][64, 1]cpu" = torch.ops.aten.add.Tensor(x, 1);  x = None',
    'a: "f32[]" = torch.relu(b);  b = c = None',
    "a: \"i64[2]\" = f(x, [1, -1], (2,), (2, 3), 1e-05, [], k = None, device = device(type='cpu'), t = torch.float32)",
    'e: "f32[3]" = torch.ops.aten.empty.memory_format([3], dtype = torch.int64, pin_memory = False)',
    'n: "f32[4]" = f(-0.5, True, 2.0)',
    "getitem = var_mean[0];  var_mean = None",
    "l_x_ = L_x_",
    "a = f(k = 1, l = [x])",
    'x: "f32[4]" = add * 1.0;  add = None',
]
OTHER = [
    "getitem = var_mean[a:]",
    "x = a ! b",
    "x = a is b",
    "x = a.b.1",
    'a: "f32" = f(x, <torch._C.Generator object at 0x1>)',
    'a: "f32" = f(x y)',
    'a: "f32" = f(k = 1, x)',
    'a: "f32" = f(x, k = 1, k = 1)',
    'a: "f32" = f(1.2.3)',
    'a: "f32" = f(012)',
    'a: "f32" = f(x, [1 2])',
    'a: "f32" = torch.ops.mine.is.default(x)',
    'a: "f32" = f(x, lambda)',
    'class: "f32" = f(x)',
    'None: "f32" = f(x)',
    'a: "f32" = f(x, None = 1)',
    'a: "f32" = f(x);  None = None',
    'a: "f"32" = f(x)',
    'a: "f32\\" = f(x)',
    'a: "f32" = f(x, (1))',
    'a: "f32" = f((x, );  x = None',
    'a: "f32" = f(x, 3x)',
    'ä: "f32" = f(x)',
]


def text_of(*lines, head="def forward(self):"):
    return "\n".join(["class GraphModule(torch.nn.Module):", f"    {head}", *(" " * 8 + s for s in lines)])


def error(text):
    try:
        compile(text, "<text>", "exec", dont_inherit=True)
    except SyntaxError as error:
        return error.lineno
    return None


@pytest.mark.parametrize("line", PLAIN)
def test_lines_of_the_usual_shape_are_not_compiled(line):
    assert error(text_of(line)) is None
    assert _core.shortened_graph(text_of(line)) == text_of("pass")


@pytest.mark.parametrize("line", OTHER)
def test_other_lines_are(line):
    assert _core.shortened_graph(text_of("y = 1", line)) == text_of("y = 1", line)


def test_a_row_of_lines_is_one():
    row = text_of(*PLAIN, "# File: a.py:1 in f", PLAIN[0])
    assert _core.shortened_graph(f"{row}\n\n{' ' * 8}{PLAIN[1]}\n") == text_of("pass")


def test_comments_before_a_row_are_part_of_it():
    assert _core.shortened_graph(text_of("# File: a.py:1 in f", "# b", PLAIN[0], "return")) == text_of("pass", "return")
    assert _core.shortened_graph(text_of("# a", "# b", "x = a is b")) == text_of("# a", "# b", "x = a is b")


@pytest.mark.parametrize("value", ["x", "(x,)", "(x, None)", "[x, 1]", "()"])
def test_what_is_returned_in_one_line(value):
    assert error(text_of(f"return {value}")) is None
    assert _core.shortened_graph(text_of(f"return {value}")) == text_of("return" if value != "()" else "return ()")


@pytest.mark.parametrize("value", ["x y", "(x", "(x,, y)", "x)", "(class,)", "[1 2]"])
def test_what_is_returned_in_another_shape_is_compiled(value):
    assert error(text_of(f"return {value}")) is not None
    assert _core.shortened_graph(text_of(f"return {value}")) == text_of(f"return {value}")


RETURN = ["return (", "    x,  # PlainAOTOutput(idx=0)", "    None,", ")"]


def test_what_is_returned_in_the_usual_shape_is_not_compiled():
    assert _core.shortened_graph(text_of(*RETURN)) == text_of("return")
    assert _core.shortened_graph(text_of(*RETURN[:2], "    x y,", ")")) == text_of(*RETURN[:2], "    x y,", ")")


@pytest.mark.parametrize("comment", ["# '''", '# """', "# \\", "# a\rb c", "# \0"])
def test_comments_that_could_end_a_string_stay(comment):
    row = text_of(PLAIN[0], comment, PLAIN[0])
    assert _core.shortened_graph(row) == text_of("pass", comment, "pass")


@pytest.mark.parametrize(
    "line", ['a: "\ud800" = f(x)', "a = \ud800", 'a: "\r" = f(x)', 'a: "\0" = f(x)', "a: \"'''\" = f(x)"]
)
def test_characters_that_python_reads_in_another_way_stay(line):
    assert _core.shortened_graph(text_of(line)) == text_of(line)


def test_comments_alone_are_no_statement():
    assert _core.shortened_graph(text_of("# a")) == text_of("# a")


HEADS = [
    "def forward(self, x):",
    'def forward(self, x: "f32[2][1]cpu", y, L_x_: "Sym(s7)"):',
    "def forward(x):",
    'def forward(\n        self,\n        x: "f32[2]",  # PlainAOTInput(idx=0)\n    ):',
]
OTHER_HEADS = [
    "def forward(self, x, x):",
    'def forward(self, x: "f32[2, x]", x: "f32"):',
    "def forward(\n        self,\n        x,\n        x,\n    ):",
    "def forward(\n        self,\n        x  # a\n        y,\n    ):",
    "def forward(self, self):",
    'def forward(self, x: "a" "b"):',
    "def forward(self, x: f32):",
    "def forward(self, is):",
    "def forward(self, None):",
    "def forward(self x):",
    "def forward(self, x)",
    'def forward(self, x: "f"32"):',
]


@pytest.mark.parametrize("head", HEADS)
def test_a_head_of_the_usual_shape_is_not_compiled(head):
    assert error(text_of("pass", head=head)) is None
    assert _core.shortened_graph(text_of("pass", head=head)) == text_of("pass")


@pytest.mark.parametrize("head", OTHER_HEADS)
def test_other_heads_are(head):
    assert _core.shortened_graph(text_of("pass", head=head)) == text_of("pass", head=head)


@pytest.mark.filterwarnings("ignore")  # Python warns about some of the random texts
def test_a_shortened_text_is_python_where_the_text_is():
    chance = random.Random(6)
    parts = [
        "x",
        "None",
        "is",
        "1",
        "-",
        ".",
        "(",
        ")",
        "[",
        "]",
        ", ",
        " = ",
        '"',
        "'",
        ";  ",
        "\\",
        "\n",
        " ",
        "#",
        ":",
    ]
    wrong = 0
    for _ in range(3000):
        lines = [list(chance.choice(PLAIN + OTHER[:1])) for _ in range(3)]
        for _ in range(chance.randrange(3)):
            line = chance.choice(lines)
            at = chance.randrange(len(line))
            line[at : at + chance.randrange(2)] = chance.choice(parts)
        text = text_of(*("".join(line) for line in lines), *RETURN, head=chance.choice(HEADS))
        found = error(text)
        wrong += found is not None
        assert (error(_core.shortened_graph(text)) is None) == (found is None), text
    assert 500 < wrong < 2500
