"""Whether the text of a graph is Python, told without compiling all of it."""

from __future__ import annotations

import random

import pytest

from depyf import graph_lines

PLAIN = [
    'add: "f32[s77, 64][64, 1]cpu" = torch.ops.aten.add.Tensor(x, 1);  x = None',
    'a: "f32[]" = torch.relu(b);  b = c = None',
    "a: \"i64[2]\" = f(x, [1, -1], (2,), (2, 3), 1e-05, [], k = None, device = device(type='cpu'), t = torch.float32)",
    'e: "f32[3]" = torch.ops.aten.empty.memory_format([3], dtype = torch.int64, pin_memory = False)',
    'n: "f32[4]" = f(-0.5, True, 2.0)',
]
OTHER = [
    "getitem = var_mean[0]",
    'a: "f32" = f(x, <torch._C.Generator object at 0x1>)',
    'a: "f32" = f(x y)',
    'a: "f32" = f(k = 1, x)',
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


def text_of(*lines):
    return "\n".join(
        ["class GraphModule(torch.nn.Module):", "    def forward(self, x):", *(" " * 8 + s for s in lines)]
    )


def error(text):
    try:
        compile(text, "<text>", "exec", dont_inherit=True)
    except SyntaxError as error:
        return error.lineno
    return None


@pytest.mark.parametrize("line", PLAIN)
def test_lines_of_the_usual_shape_are_not_compiled(line):
    assert error(text_of(line)) is None
    assert graph_lines.shortened(text_of(line)) == text_of("pass")


@pytest.mark.parametrize("line", OTHER)
def test_other_lines_are(line):
    assert graph_lines.shortened(text_of("y = 1", line)) == text_of("y = 1", line)


@pytest.mark.filterwarnings("ignore")  # of what Python makes of the odder texts
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
        text = text_of(*("".join(line) for line in lines))
        found = error(text)
        wrong += found is not None
        assert (error(graph_lines.shortened(text)) is None) == (found is None), text
    assert 500 < wrong < 2500
