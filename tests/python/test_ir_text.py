"""Compares the parts of the text of Inductor's IR with SymPy, `textwrap`, and Inductor's own format."""

from __future__ import annotations

import concurrent.futures
import random
import time
import types

import pytest

sympy = pytest.importorskip("sympy")
dependencies = pytest.importorskip("torch._inductor.dependencies")
scheduler = pytest.importorskip("torch._inductor.scheduler")

from depyf import _core  # noqa: E402
from depyf.printing import ir, sympy_text  # noqa: E402 (depyf.printing needs SymPy and Inductor)

NAMES = ("c0", "c1", "c10", "c2", "s0", "s27", "x0", "_a", "A", "tmp0")


def test_expressions_are_printed_as_sympy_does():
    assert sympy_text.is_right()
    chance = random.Random(1)
    symbols = [sympy.Symbol(name, integer=True, **({"positive": True} if name[0] == "s" else {})) for name in NAMES]
    told = 0
    for _ in range(3000):
        one = sympy.Integer(0)
        for _ in range(chance.randint(1, 5)):
            term = sympy.sympify(chance.choice((1, 1, -1, 2, 64, -7, 1024, 0, 3, sympy.Rational(1, 2))))
            for _ in range(chance.randint(0, 3)):
                term *= chance.choice(symbols)
            one += term
        if chance.random() < 0.1:
            one *= chance.choice(symbols)
        if chance.random() < 0.05:
            one = sympy.Mul(chance.choice((1, 2)), one, evaluate=False)
        if chance.random() < 0.05:
            one = sympy.Add(one, symbols[0], 1, evaluate=False)
        text = sympy_text.text(one)
        told += text is not None
        assert text in (None, str(one))
    assert told > 1000


@pytest.mark.parametrize(
    "kind", [sympy.Rational(1, 2), sympy.Float(2), sympy.oo, sympy.Dummy("a"), sympy.Symbol("a") ** 2]
)
def test_other_expressions_are_left_to_sympy(kind):
    assert sympy_text.text(kind) is None
    assert sympy_text.text(kind + 1) is None


def test_with_another_order_all_is_left_to_sympy():
    from sympy.printing.printer import Printer

    try:
        Printer.set_global_settings(order="rev-lex")
        assert not sympy_text.is_right()
    finally:
        Printer._global_settings.clear()
    assert sympy_text.is_right()


class _Node:
    """A node of the IR that writes a set of dependencies, and nothing else."""

    unmet_dependencies = ()
    node = None
    min_input_distance = max_input_distance = 0

    def __init__(self, writes):
        self.read_writes = types.SimpleNamespace(writes=writes, reads=())

    def get_name(self):
        return "op0"

    def get_outputs(self):
        return []

    def debug_str_extra(self):
        return ""

    debug_str_extra.__qualname__ = "BaseSchedulerNode.debug_str_extra"


def test_sets_of_dependencies_are_formatted_as_inductor_does():
    variables = sympy.symbols("c0 c1 c2", integer=True)
    # each set is freed before the next exists, and a cached text must not be returned for another set
    texts = _core.IrTexts(str)
    for count in range(5):
        for size in (1, 2, 3):
            for long in (1, 10, 60):
                one = scheduler.OrderedSet(
                    dependencies.MemoryDep("b" * long + str(i), variables[0] * i + 1, variables[:size], (8,) * size)
                    for i in range(count)
                )
                one.add(dependencies.StarDep(f"buf{count}"))
                text, _ = _core.IrText(texts, None).node(_Node(one))
                assert f"\nop0.writes = {scheduler.pformat(one)}\nop0.unmet_dependencies = []\n" in text


def test_threads_print_at_the_same_time():
    texts, variable = _core.IrTexts(lambda expression: time.sleep(0) or str(expression)), sympy.Symbol("c0")
    nodes = [_Node([dependencies.MemoryDep(f"buf{i}", variable + i, (variable,), (i,))]) for i in range(300)]

    def printed(order):
        ir = _core.IrText(texts, None)
        return {node.read_writes.writes[0].name: ir.node(node)[0].splitlines()[1] for node in order}

    with concurrent.futures.ThreadPoolExecutor() as threads:
        both = list(threads.map(printed, [nodes, nodes[::-1], nodes, nodes[::-1]]))
    expected = {f"buf{i}": f"op0.writes = [MemoryDep('buf{i}', {variable + i}, {{c0: {i}}})]" for i in range(300)}
    assert both == [expected] * 4


def test_texts_in_an_unusual_order_are_not_kept(monkeypatch):
    from sympy.printing.printer import Printer as SymPyPrinter

    monkeypatch.setattr(ir.printed, "ir_graph", lambda: None)
    variables = sympy.symbols("c0 c1", integer=True)
    node = _Node([dependencies.MemoryDep("buf0", sum(variables), variables, (8, 8))])
    node.debug_str = lambda: "of PyTorch"
    printer = ir.Printer()
    printer._known[_Node] = True
    try:
        SymPyPrinter.set_global_settings(order="rev-lex")
        printer.text([node])
    finally:
        SymPyPrinter._global_settings.clear()
    assert printer._texts.expressions == 0
    printer.text([node])
    assert printer._texts.expressions > 0
