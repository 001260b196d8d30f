"""Tests of the links from a line of source to its kernels, forward and backward, and from the lines of dumped files to
the source."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys

import pytest

import depyf
import torch
from depyf import _core
from depyf.compat.inductor import Operation
from depyf.provenance import annotate
from depyf.provenance.collect import Collected
from torch_helpers import ENVIRONMENT, check_dump

pytestmark = pytest.mark.slow


def layer(x, w, v):
    h = torch.nn.functional.gelu(x @ w)
    return (h @ v).softmax(-1) * x


GELU = layer.__code__.co_firstlineno + 1


@pytest.fixture(scope="module")
def dumped(tmp_path_factory):
    """Returns (the dump of a layer that was trained for one step, its session, its provenance.json)."""
    directory = tmp_path_factory.mktemp("layer")
    torch._dynamo.reset()
    arguments = [torch.randn(8, 8, requires_grad=True) for _ in range(3)]
    with (
        torch._inductor.config.patch(fx_graph_cache=False),
        torch._functorch.config.patch(enable_autograd_cache=False),
        depyf.prepare_debug(directory) as session,
    ):
        torch.compile(layer)(*arguments).sum().backward()
    torch._dynamo.reset()
    data = json.loads((directory / "provenance.json").read_text())
    assert data["schema_version"] == 1
    return directory, session, data["runs"][-1]["compilations"][0]


def defined(directory, session, direction):
    """Returns (the output code's file, the kernels that it defines) of a direction."""
    (file,) = [a.file for a in session.frames[0].artifacts if a.kind == "kernel" and a.direction == direction]
    return file, re.findall(r"^(\w+) = async_compile\.", (directory / file).read_text(), re.MULTILINE)


def test_a_line_leads_to_its_forward_and_its_backward_kernel(dumped):
    directory, session, data = dumped
    (gelu,) = [one for one in data["chains"] if one["operator"].endswith("gelu")]
    assert gelu["line"]["line"] == GELU and gelu["line"]["file"] == __file__ and "gelu" in gelu["line"]["text"]
    forward, backward = gelu["directions"]["forward"], gelu["directions"]["backward"]
    for name, one in (("forward", forward), ("backward", backward)):
        _, there = defined(directory, session, name)
        assert one["graph"] and one["post_grad"] and one["operations"]
        (kernel,) = one["kernels"]
        assert kernel in there and "gelu" in kernel and not one["not_recorded"]
    assert forward["kernels"] != backward["kernels"]
    assert "aten.erf.default" in " ".join(gelu["decomposed_into"]["forward"])
    assert "aten.exp.default" in " ".join(gelu["decomposed_into"]["backward"])
    assert gelu["joint"] and set(forward["graph"]) <= set(gelu["joint"])


def test_every_kernel_leads_back_to_a_line(dumped):
    directory, session, data = dumped
    for name in ("forward", "backward"):
        _, there = defined(directory, session, name)
        told = {one["name"]: one for one in data["kernels"][name]}
        assert there and set(there) <= set(told)
        for kernel in there:
            lines = {line["line"] for line in told[kernel]["computes"].values()}
            assert lines and lines <= {GELU, GELU + 1}


def test_the_files_say_it_at_their_lines_and_no_line_moves(dumped):
    directory, session, data = dumped
    check_dump(directory)
    for file, one in data["files"].items():
        lines = (directory / file).read_text().splitlines()
        assert one["lines"], file
        for name, number in one["lines"].items():
            assert lines[number - 1].lstrip().startswith(name), (file, name, number)
    kinds = {a.kind for a in session.frames[0].artifacts}
    for artifact in session.frames[0].artifacts:
        text = (directory / artifact.file).read_text()
        assert annotate.MARK in text, artifact.file
        assert len(annotate.plain(text).splitlines()) == len(text.splitlines())
    assert {"Captured_Graph", "Joint_graph", "AFTER_POST_GRAD", "ir_pre_fusion", "ir_post_fusion", "kernel"} <= kinds
    captured = (directory / session.frames[0].files("Captured_Graph")[0]).read_text()
    line = next(line for line in captured.splitlines() if "gelu(" in line and annotate.MARK in line)
    assert "forward: cpp_fused_" in line and "backward: cpp_fused_" in line
    file, _ = defined(directory, session, "forward")
    text = (directory / file).read_text().splitlines()
    at = next(i for i, line in enumerate(text) if line.startswith("cpp_fused_gelu") or "gelu" in line.split(" = ")[0])
    assert f"test_provenance.py:{GELU}" in text[at - 1]


def test_a_dump_has_what_its_lines_cost(dumped):
    directory, _, _ = dumped
    text = (directory / "tables.md").read_text()
    assert "[tables.md](tables.md)" in (directory / "index.md").read_text()
    rows = [line for line in text.splitlines() if "`extern_kernels.mm`" in line]
    places = {re.match(r"\| test_provenance\.py:(\d+) ", row)[1] for row in rows}
    assert places == {str(GELU), str(GELU + 1)}
    assert sum(int(row.split(" | ")[2]) for row in rows) == 2  # the two calls in the forward are `x @ w` and `h @ v`
    assert "### Saved for the backward" in text and "| `f32[8, 8]` |" in text


def test_tables_of_an_earlier_run_stay(tmp_path):
    def f(x):
        y = x.sin()
        print("a break")
        return y.clone().cos()

    for _ in range(2):
        torch._dynamo.reset()
        with depyf.prepare_debug(tmp_path):
            torch.compile(f, backend="aot_eager")(torch.ones(5))
    index = (tmp_path / "index.md").read_text()
    for name in ("tables.md", "tables_run_2.md"):
        assert f"[{name}]({name})" in index
        assert "| `clone f32[5]` | 1 | 0 |" in (tmp_path / name).read_text()
        assert "0/0 (1) | 1/0 (2) |" in (tmp_path / name).read_text()  # operators before and behind the break
    check_dump(tmp_path)


def test_neighbours_that_were_not_fused_have_a_reason(dumped):
    _, session, data = dumped
    pairs = data["not_fused"]["forward"]
    assert pairs and all(pair["why"] and pair["buffers"] for pair in pairs)
    gelu = next(pair for pair in pairs if "h" in pair["second_is"].split(" ")[0].split(","))
    assert "library call (extern_kernels.mm" in gelu["why"] and f"test_provenance.py:{GELU}" in gelu["first_is"]
    assert any("not fused (forward)" in line for line in session.frames[0].provenance)


def test_a_graph_without_backward(tmp_path):
    def f(x):
        return x.sin() + 1

    with (
        torch._inductor.config.patch(fx_graph_cache=False),
        depyf.prepare_debug(tmp_path) as session,
    ):
        torch.compile(f)(torch.ones(5))
    data = json.loads((tmp_path / "provenance.json").read_text())["runs"][0]["compilations"][0]
    assert all(list(one["directions"]) == ["forward"] for one in data["chains"]) and len(data["chains"]) == 2
    assert all(one["directions"]["forward"]["kernels"] for one in data["chains"])
    assert len(session.frames) == 1
    check_dump(tmp_path)


def test_what_is_not_recorded_is_said(tmp_path):
    def f(x):
        return x.sin() + 1

    with depyf.prepare_debug(tmp_path):
        torch.compile(f, backend="aot_eager")(torch.ones(5))
    data = json.loads((tmp_path / "provenance.json").read_text())["runs"][0]["compilations"][0]
    for chain in data["chains"]:
        one = chain["directions"]["forward"]
        assert one["graph"] and not one["kernels"] and "post_grad: " in one["not_recorded"][0]
        assert chain["not_recorded"] == []
    assert data["missing"]
    (file,) = tmp_path.glob("*.Captured_Graph.0.py")
    assert annotate.MARK not in file.read_text()  # no remarks are written if each node would have the same one


def test_a_node_that_became_part_of_others_is_said_to_be_nowhere(tmp_path):
    def f(x):
        a, b = x.chunk(2)
        return a.sin() + b

    with depyf.prepare_debug(tmp_path):
        torch.compile(f, backend="aot_eager")(torch.ones(4))
    data = json.loads((tmp_path / "provenance.json").read_text())["runs"][0]["compilations"][0]
    by_name = {chain["node"]: chain for chain in data["chains"]}
    nowhere = [chain for chain in data["chains"] if not chain["directions"]]
    assert {chain["operator"] for chain in nowhere} == {"operator.getitem"} and len(nowhere) == 2
    assert all(len(chain["not_recorded"]) == 1 for chain in nowhere) and by_name["chunk"]["directions"]
    (file,) = tmp_path.glob("*.Captured_Graph.0.py")
    lines = [line for line in file.read_text().splitlines() if " = chunk[" in line]
    assert len(lines) == 2 and all("#~ no kernel: graph: no node names this node" in line for line in lines)


class Product(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(4, 4))

    def forward(self, x):
        return x @ self.weight


class Products(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(Product() for _ in range(3))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


PRODUCT = Product.forward.__code__.co_firstlineno + 1


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = torch.nn.Linear(32, 96)

    def forward(self, x):
        q, k, v = (part.view(2, 8, 4, 8).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1))
        # A node of the graph by which Inductor replaces attention has the name `permute`.
        permute = torch.softmax(q @ k.transpose(-2, -1) / 8**0.5, dim=-1)
        return (permute @ v).transpose(1, 2).reshape(2, 8, 32)


ATTENTION = Attention.forward.__code__.co_firstlineno


@pytest.mark.parametrize("is_trained", [True, False])
def test_attention_comes_from_the_nodes_that_it_replaces(tmp_path, is_trained):
    torch._dynamo.reset()
    model = torch.nn.Sequential(Attention(), Attention()).requires_grad_(is_trained)
    with (
        torch._inductor.config.patch(fx_graph_cache=False),
        torch._functorch.config.patch(enable_autograd_cache=False),
        depyf.prepare_debug(tmp_path) as session,
    ):
        result = torch.compile(model)(torch.randn(2, 8, 32))
        if is_trained:
            result.sum().backward()
    data = json.loads((tmp_path / "provenance.json").read_text())["runs"][-1]["compilations"][0]
    softmax = [chain for chain in data["chains"] if chain["operator"] == "torch.softmax"]
    assert len(softmax) == 2
    (graph,) = [
        a.file for a in session.frames[0].artifacts if a.kind == "AFTER_POST_GRAD" and a.direction != "backward"
    ]
    calls = [text for text in (tmp_path / graph).read_text().splitlines() if " = torch.ops.aten._scaled_dot" in text]
    assert len(calls) == 2
    for call, own, other in zip(calls, softmax, softmax[::-1], strict=True):
        (name,) = re.findall(r"(\w+) = ", call)[:1]
        assert name in own["directions"]["forward"]["post_grad"]
        assert name not in other["directions"]["forward"]["post_grad"]
        for direction in ("forward", "backward")[: 1 + is_trained]:
            assert any("_scaled_dot" in kernel for kernel in own["directions"][direction]["kernels"]), direction
    (linear, _) = [chain for chain in data["chains"] if chain["operator"].endswith("linear")]
    assert not any("_scaled_dot" in node for node in linear["directions"]["forward"]["post_grad"])
    output_code = (tmp_path / session.frames[0].files("kernel")[0]).read_text()
    lines = re.findall(
        r"#~ (?:fn\.)?([01]) \(test_provenance\.py:(\d+)\).*\n.* = torch\.ops\.aten\._scaled_dot", output_code
    )
    assert [(module, int(line) - ATTENTION) for module, line in lines] == [("0", 4), ("1", 4)]
    # PyTorch's own list of nodes is shortened; provenance.json has all of them. A call has only one line with a
    # comment.
    assert re.search(r"# Source Nodes: \[\.\.\., \w+\]  #~ ", output_code)
    called = output_code[output_code.index("def call(") :].splitlines()
    assert not any("# Source Nodes" in before and "  #~ " in line for before, line in itertools.pairwise(called))


def test_no_comment_makes_a_line_longer_than_a_screen(tmp_path):
    def f(x):
        for _ in range(40):
            x = x.sin()
        return x.sum()

    torch._dynamo.reset()
    with (
        torch._inductor.config.patch(fx_graph_cache=False),
        torch._functorch.config.patch(enable_autograd_cache=False),
        depyf.prepare_debug(tmp_path),
    ):
        torch.compile(f)(torch.ones(9, requires_grad=True)).backward()
    lines = [line for file in tmp_path.glob("__compiled_fn_*") for line in file.read_text().splitlines()]
    assert [line for line in lines if len(line) > 200 >= len(annotate.plain(line))] == []
    # Kernels that do not fit into a remark are counted.
    assert any(re.search(r"#~ .* and \d+ more", line) for line in lines)


def test_each_call_says_its_module_and_line(tmp_path):
    torch._dynamo.reset()
    with (
        torch._inductor.config.patch(fx_graph_cache=False),
        torch._functorch.config.patch(enable_autograd_cache=False),
        depyf.prepare_debug(tmp_path),
    ):
        torch.compile(Products())(torch.ones(4, 4)).sum().backward()
    told = {}
    for file in tmp_path.glob("*.kernel_?.py"):
        pairs = list(itertools.pairwise(file.read_text().splitlines()))
        calls = [(above, line) for above, line in pairs if line.lstrip().startswith("extern_kernels.mm(")]
        told[len(calls)] = [
            (line if annotate.MARK in line else above).partition(annotate.MARK)[2] for above, line in calls
        ]
    places = [f"layers.{i} (test_provenance.py:{PRODUCT})" for i in range(3)]
    assert told[3] == places
    # The backward has the gradient of each weight, and of each layer's input except the first layer's.
    assert sorted(told[5]) == sorted([*places, *places[1:]])


def _graph_files(directory, session):
    (frame,) = session.frames
    return {a.kind: (directory / a.file).read_text() for a in frame.artifacts if "graph" in a.kind.lower()}


def test_parameters_keep_their_names_in_graphs_that_run(tmp_path):
    class Added(Products):
        def forward(self, mul, x):  # the parameters have names of operators
            return super().forward(x) * mul + x

    torch._dynamo.reset()
    model = Added()
    mul, x = torch.full((4, 4), 2.0), torch.ones(4, 4, requires_grad=True)
    model(mul, x).sum().backward()
    expected = [one.grad.clone() for one in (*model.parameters(), x)]
    model.zero_grad()
    x.grad = None
    with depyf.prepare_debug(tmp_path) as session:
        torch.compile(model, backend="aot_eager")(mul, x).sum().backward()
    assert all(map(torch.equal, [one.grad for one in (*model.parameters(), x)], expected))
    texts = _graph_files(tmp_path, session)
    for kind in ("Joint_graph", "Forward_graph", "Backward_graph"):
        for i in range(3):
            assert re.search(rf"^        layers_{i}_weight: .*  # PyTorch's primals_\d$", texts[kind], re.MULTILINE), (
                kind
            )
        assert "primals_" not in annotate.plain(re.sub("# PyTorch's .*", "", texts[kind])), kind
        assert re.search(r"^        mul_: .*# PyTorch's primals_\d$", texts[kind], re.MULTILINE), kind
    assert texts["Backward_graph"].count("# gradient of layers_") == 3
    running = {a.kind for a in session.frames[0].artifacts if a.running}
    assert {"Forward_graph", "Backward_graph"} <= running
    for kind in ("Captured_Graph", "Joint_graph", "Forward_graph"):
        headings = re.findall(r"^        # ([\w.]+|\(top level\))$", texts[kind], re.MULTILINE)
        assert headings[:4] == ["layers.0", "layers.1", "layers.2", "(top level)"], kind
    check_dump(tmp_path)


def test_inputs_of_a_part_of_the_captured_graph_keep_pytorchs_names(tmp_path):
    from torch._dynamo.backends.common import aot_autograd
    from torch._dynamo.backends.debugging import boxed_nop

    torch._dynamo.reset()
    with depyf.prepare_debug(tmp_path) as session:
        compiled = torch.compile(Products(), backend=aot_autograd(fw_compiler=boxed_nop, bw_compiler=boxed_nop))
        compiled(torch.ones(4, 4)).sum().backward()
    texts = _graph_files(tmp_path, session)
    assert "primals_1: " in texts["Forward_graph"] and "# layers.1" in texts["Forward_graph"]


def test_reasons_in_the_users_terms():
    def op(number, reads, kind="loops"):
        return Operation(f"op{number}", kind, (f"buf{number}",), reads, ())

    def not_fused(calls):
        seen = Collected()
        direction = seen.direction("forward")
        direction.operations = [[op(0, ()), op(1, ("buf0",))], [op(2, ("buf1",))], [op(3, ("buf2",))]]
        direction.not_fused = {
            ("op0", "op2"): "older",
            ("op0_op1", "op2"): "memory deps did not match",
            ("op2", "op3"): "odd",
        }
        direction.code = "def call(args):\n" + "".join(f"    {call}\n" for call in calls)
        links = _core.Provenance(seen, lambda direction: {})
        return json.loads(links.to_json("0/0", "f", 1, []))["not_fused"]["forward"]

    one, two = not_fused(["a(buf0, buf1)", "b(buf1, buf2)", "c(buf2, buf3)"])
    assert (one["first"], one["second"], one["buffers"]) == ("op0_op1", "op2", ["buf1"])
    assert one["reason"] == "memory deps did not match" and "in a different order" in one["why"]
    assert one["first_is"] == "code of PyTorch" and two["why"] == "odd"
    assert not_fused(["a(buf0, buf1, buf2, buf3)"]) == []


def _norms(x, w):
    return (torch.nn.functional.gelu(x @ w) + x.mean(0)).softmax(-1).t().contiguous().sum()


def _views_and_writes(x, w):
    y = torch.cat([x.view(2, -1), w.reshape(2, 32)], 1).clone()
    y[0].add_(1)
    return torch.where(y > 0, y.cumsum(1), y.sort(1).values).sum() + w.t().var(0).prod()


@pytest.mark.parametrize(
    ("function", "dynamic"),
    [
        (_views_and_writes, False),
        (_norms, True),
        pytest.param(_norms, False, marks=pytest.mark.long),
        pytest.param(_views_and_writes, True, marks=pytest.mark.long),
    ],
)
def test_the_text_of_the_ir_is_inductors_own(tmp_path, monkeypatch, function, dynamic):
    from depyf.printing import hooks
    from depyf.printing.ir import Printer
    from depyf.printing.learning import Learner

    asked = []

    class Counting(Learner):
        def text(self, make, own):
            return super().text(make, lambda: asked.append(own) or own())

    def texts(directory):
        torch._dynamo.reset()
        asked.clear()
        with torch._inductor.config.patch(force_disable_caches=True), depyf.prepare_debug(directory) as session:
            compiled = torch.compile(function, dynamic=dynamic)
            compiled(torch.ones(8, 8), torch.ones(8, 8, requires_grad=True)).backward()
        (frame,) = session.frames
        kinds = ("ir_pre_fusion", "ir_post_fusion")
        files = [one.file for one in frame.artifacts if one.kind in kinds]
        return len(asked), ["".join((directory / file).read_text().splitlines(True)[3:]) for file in files]

    monkeypatch.setattr(hooks, "_ir", Printer())
    hooks._ir._learner = Counting()
    more, learned = texts(tmp_path / "first")
    fewer, made = texts(tmp_path / "then")
    assert more > 2 and fewer <= more // 2
    monkeypatch.setenv(hooks.VARIABLE, "pytorch")
    _, own = texts(tmp_path / "own")
    assert len(own) == 4 and all("loop_body" in one for one in own) and learned == made == own


@pytest.mark.parametrize("dynamic", [pytest.param(False, marks=pytest.mark.long), True])
def test_the_text_of_graphs_is_pytorchs_own(tmp_path, monkeypatch, dynamic):
    from depyf.printing import hooks
    from depyf.printing.graphs import Printer

    monkeypatch.setattr(hooks, "_graphs", Printer())
    printed = []
    own = torch.fx.graph_module._print_readable
    monkeypatch.setattr(torch.fx.graph_module, "_print_readable", lambda *a: printed.append(a[0]) or own(*a))

    def texts(directory):
        torch._dynamo.reset()
        printed.clear()
        with torch._inductor.config.patch(force_disable_caches=True), depyf.prepare_debug(directory) as session:
            compiled = torch.compile(_views_and_writes, dynamic=dynamic)
            compiled(torch.ones(8, 8), torch.ones(8, 8, requires_grad=True)).backward()
        (frame,) = session.frames
        graphs = [one for one in frame.artifacts if one.kind not in ("kernel", "ir_pre_fusion", "ir_post_fusion")]
        bodies = [(directory / one.file).read_text().partition("class ")[2] for one in graphs]
        return len(printed), [(one.kind, one.direction, body) for one, body in zip(graphs, bodies, strict=True)]

    more, own_texts = texts(tmp_path / "first")  # the printer learns from these calls
    fewer, made = texts(tmp_path / "then")
    assert fewer <= more // 2
    monkeypatch.setenv(hooks.VARIABLE, "pytorch")
    all_of_them, each = texts(tmp_path / "each")
    assert all_of_them >= more
    assert own_texts == made == each and len(made) == 10


def test_a_graph_that_has_changed_is_printed_again():
    from depyf.printing import hooks

    graph = torch.fx.symbolic_trace(lambda x, y: torch.add(x, y).relu())
    add, relu = [node for node in graph.graph.nodes if node.op.startswith("call")]
    add.meta["val"] = torch._subclasses.FakeTensorMode().from_tensor(torch.ones(2, 3))
    options = {"print_output": False, "include_stride": True, "include_device": True}
    changes = [
        lambda: add.update_arg(1, 2),
        lambda: add.update_kwarg("alpha", 3),
        lambda: setattr(relu, "target", "sigmoid"),
        lambda: setattr(relu, "name", "other"),
        lambda: setattr(relu, "type", int),
        add.meta["val"].t_,
        lambda: add.meta["val"].resize_(4),
        lambda: add.meta.update(val=torch._subclasses.FakeTensorMode().from_tensor(torch.ones(5))),
        lambda: add.meta.update(stack_trace='File "a.py", line 1, in f\n  x + y'),
        lambda: add.meta.update(custom={"a": 1}),
        lambda: graph.graph.erase_node(next(iter(relu.users))),
        lambda: setattr(type(graph), "__name__", "Other"),
    ]
    for change in changes:
        take_away = hooks.add_graph_hook()
        try:
            before = graph.print_readable(**options)
            assert graph.print_readable(**options) == before
            change()
            after = graph.print_readable(**options)
        finally:
            take_away()
        assert graph.print_readable(**options) == after != before


def _printed_by(printer, graph, **options):
    """Returns (the text that a printer returns for a graph, True if PyTorch printed it)."""
    asked = []

    def own():
        asked.append(1)
        return graph.print_readable(
            print_output=False,
            include_stride=True,
            include_device=True,
            fast_sympy_print=options.get("simple", False),
            expanded_def=options.get("expanded", False),
        )

    text = printer.text(graph, own, **{"simple": False, "expanded": False, **options})
    assert text == own()
    return len(asked) == 2


def test_what_was_not_compared_with_pytorchs_text_is_printed_by_pytorch():
    from depyf.printing.graphs import Printer

    printer = Printer()
    graph = torch.fx.symbolic_trace(lambda x, y: torch.add(x, y, alpha=2).relu() * (x[0] - 1))
    assert _printed_by(printer, graph) and not _printed_by(printer, graph)
    assert _printed_by(printer, graph, expanded=True) and not _printed_by(printer, graph, expanded=True)
    assert not _printed_by(printer, torch.fx.symbolic_trace(lambda a, b: torch.add(a, b).relu() * 7))
    # the printer has not seen a float argument yet
    assert _printed_by(printer, torch.fx.symbolic_trace(lambda a: torch.add(a, 0.5)))
    assert _printed_by(printer, torch.fx.symbolic_trace(lambda a: torch.sub(a, 1)))


@pytest.mark.parametrize(
    "change",
    [
        lambda graph, add: add.meta.update(custom={"a": 1}),
        lambda graph, add: add.meta.update(is_wrapped=True),
        lambda graph, add: add.meta.update(stack_trace='  File "a.py", line 1, in f\n    x  # COUNTER: 3'),
        lambda graph, add: setattr(add, "name", "sum"),  # the name of a builtin
        lambda graph, add: setattr(add, "name", "x"),  # the name of another node
        lambda graph, add: setattr(add, "type", torch.Tensor | None),
        lambda graph, add: graph.graph.on_generate_code(lambda _: lambda lines: [*lines, "# more"]),
        lambda graph, add: graph.graph.set_codegen(type("Mine", (torch.fx.graph.CodeGen,), {})()),
        lambda graph, add: setattr(graph, "child", torch.fx.symbolic_trace(lambda x: x + 1)),
        lambda graph, add: setattr(add, "target", _own_function),
        lambda graph, add: add.update_arg(1, slice(None, 2)),
        lambda graph, add: add.meta.update(val=torch.ones(2).to_sparse()),
        lambda graph, add: add.meta.update(val=torch.nn.Parameter(torch.ones(2))),
    ],
)
def test_what_a_graph_can_have_besides_is_left_to_pytorch(change):
    from depyf.printing.graphs import Printer

    printer = Printer()
    graph = torch.fx.symbolic_trace(lambda x, y: torch.add(x, y).relu())
    _printed_by(printer, graph)
    assert not _printed_by(printer, graph)
    change(graph, next(node for node in graph.graph.nodes if node.op == "call_function"))
    assert _printed_by(printer, graph) and _printed_by(printer, graph)


def _own_function(x, y):
    return x


def test_a_release_that_prints_in_another_way_prints_all(monkeypatch):
    from depyf.printing import graphs

    printer = graphs.Printer()
    monkeypatch.setattr(graphs, "_comment", lambda stack: "\n# other\n")
    graph = torch.fx.symbolic_trace(lambda x: torch.relu(x) * 2)
    assert all(_printed_by(printer, graph) for _ in range(5))
    monkeypatch.setattr(graphs._Graph, "text", None)
    assert _printed_by(printer, graph)


def test_another_handler_of_the_trace_hears_every_record(tmp_path):
    import logging

    heard = []
    other = logging.Handler()
    other.emit = lambda record: heard.append(next(iter(record.metadata)))
    logger = logging.getLogger("torch.__trace")
    torch._dynamo.reset()
    with depyf.prepare_debug(tmp_path):
        logger.addHandler(other)
        try:
            torch.compile(lambda x: x + 1, backend="eager")(torch.ones(2))
        finally:
            logger.removeHandler(other)
    assert {"dynamo_start", "chromium_event"} <= set(heard)


RECORDS = """
import logging, pathlib, sys
import torch
import depyf

logger = logging.getLogger("torch.__trace")
f = torch.compile(lambda x: x + 1, backend="aot_eager")
f(torch.ones(2))  # PyTorch's own handler, which writes nothing, is gone after a record
make, made = logger.makeRecord, []
before = logger.handlers
with depyf.prepare_debug(sys.argv[1]):
    f(torch.ones(2, 2))
    logger.makeRecord = lambda *a, **k: made.append(next(iter(a[8]["metadata"]))) or make(*a, **k)
    f(torch.ones(2, 2, 2))
assert logger.handlers is before and type(before) is list and before == [], before
assert made == [], made
text = (pathlib.Path(sys.argv[1]) / "session.json").read_text()
assert "__compiled_fn_" in text and "Forward_graph" in text and '"seconds": null' not in text, text
"""


def test_no_records_of_the_trace_are_made_for_a_block_alone(tmp_path):
    # The test runs in a process of its own, because pytest adds handlers to all loggers.
    command = [sys.executable, "-c", RECORDS, str(tmp_path / "dump")]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_new_values_of_buffers_belong_to_the_line_that_computes_them(tmp_path):
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = torch.nn.BatchNorm1d(4)
            self.head = torch.nn.Linear(4, 2)

        def forward(self, x):
            x = self.norm(x)
            return self.head(x)

    torch._dynamo.reset()
    with depyf.prepare_debug(tmp_path):
        torch.compile(Model(), backend="aot_eager")(torch.randn(3, 4)).sum().backward()
    file = next(path for path in tmp_path.glob("*.Forward_graph.*"))
    copies = [line for line in file.read_text().splitlines() if "aten.copy_.default(" in line]
    assert len(copies) == 3
    chains = json.loads((tmp_path / "provenance.json").read_text())["runs"][0]["compilations"][0]["chains"]
    lines = {name: c["line"]["text"] for c in chains for name in c["directions"]["forward"]["graph"]}
    assert {lines[name] for name in ("copy_", "copy__1", "copy__2")} == {"x = self.norm(x)"}
    assert lines["addmm"] == "return self.head(x)"
