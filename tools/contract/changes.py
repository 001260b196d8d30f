"""Seeded changes of a program, each of which `depyf diff` and `depyf check` have to name at its line.

A change is (a text in the program, its replacement, a line, words). At least one reported difference must be located at
the line, and must contain the words in its sentence or its details. The line is "" for a change that belongs to a whole
function or run, such as another backend; its difference must be located at a function instead of a line. The words are
None for a change that must not be reported.
"""

from __future__ import annotations

BASE = """\
import logging
import time

import torch
import torch.nn.functional as F

log = logging.getLogger("model")
COUNT = 0

class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(16)
        self.up = torch.nn.Linear(16, 32)
        self.down = torch.nn.Linear(32, 16)
        self.scale = 0.5
        self.mode = "plain"
        self.steps = [1, 2]

    def forward(self, x):
        h = self.norm(x)
        h = F.gelu(self.up(h))
        h = self.down(h)
        return x + h * self.scale

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList(Block() for _ in range(2))
        self.head = torch.nn.Linear(16, 4)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        x = x.mean(1)
        return self.head(x)

def loss(y, t):
    d = y - t
    return (d * d).mean()

def run():
    torch.manual_seed(0)
    net = Net()
    compiled = torch.compile(net)
    compiled_loss = torch.compile(loss)
    for _ in range(2):
        x = torch.randn(4, 8, 16)
        y = compiled(x)
        compiled_loss(y, torch.ones_like(y)).backward()
"""

_FORWARD = "        h = self.norm(x)\n"
_LOOP = "    for _ in range(2):\n"

CHANGES: dict[str, tuple[str, str, str, str | None]] = {
    # Changes that add a graph break.
    "print": (_FORWARD, '        print("hello")\n' + _FORWARD, 'print("hello")', "graph break"),
    "logging": (_FORWARD, '        log.warning("x")\n' + _FORWARD, 'log.warning("x")', "graph break"),
    "explicit break": (_FORWARD, "        torch._dynamo.graph_break()\n" + _FORWARD, "torch._dynamo.graph_break()", "graph break"),
    "item": ("h * self.scale", "h * h.sum().item()", "return x + h * h.sum().item()", "graph break"),
    "tolist": (_FORWARD, "        torch.ones(1).to(x).tolist()\n" + _FORWARD, "torch.ones(1).to(x).tolist()", "graph break"),
    "branch on data": ("        x = x.mean(1)", "        if x.sum() > 1e9:\n            x = x + 1\n        x = x.mean(1)", "if x.sum() > 1e9:", "graph break"),
    "disabled function": (
        "def loss(y, t):\n    d = y - t",
        "@torch.compiler.disable\ndef minus(y, t):\n    return y - t\n\ndef loss(y, t):\n    d = minus(y, t)",
        "d = minus(y, t)", "graph break",
    ),
    "builtin": (_FORWARD, "        breakpointless = input if x is None else open('/dev/null')\n" + _FORWARD, "breakpointless = input if x is None else open('/dev/null')", "graph break"),
    "break in the loss": ("    d = y - t", '    print("loss")\n    d = y - t', 'print("loss")', "graph break"),
    # Changes that cause recompilations.
    "batch": ("torch.randn(4, 8, 16)", "torch.randn(4 + _, 8, 16)", "h = self.norm(x)", "x.shape"),
    "sequence": ("torch.randn(4, 8, 16)", "torch.randn(4, 8 + _, 16)", "h = self.norm(x)", "x.shape"),
    "attribute": (_LOOP, _LOOP + "        net.blocks[0].scale += 0.5\n", "return x + h * self.scale", "scale"),
    "text": (_LOOP, _LOOP + "        net.blocks[0].mode = str(_)\n", "", None),  # nothing reads it
    "text that is read": (
        "        return x + h * self.scale",
        "        self.mode = self.mode + '.'\n        return x + h * (0.5 if self.mode else 1.0)",
        "self.mode = self.mode + '.'", "mode",
    ),
    "list that grows": (
        "        return x + h * self.scale",
        "        self.steps.append(1)\n        return x + h * len(self.steps)",
        "self.steps.append(1)", "steps",
    ),
    "grad mode": (_LOOP, "    with torch.no_grad():\n        compiled(torch.randn(4, 8, 16))\n" + _LOOP, "", "grad mode"),
    "type of the input": ("        y = compiled(x)", "        y = compiled(x)\n        net.double()(x.double())\n        compiled(x.double())\n        net.float()", "h = self.norm(x)", "float64"),
    "strides": ("        y = compiled(x)", "        y = compiled(x)\n        compiled(x.transpose(0, 1).contiguous().transpose(0, 1))", "h = self.norm(x)", "stride"),
    "gradient of the input": ("        y = compiled(x)", "        y = compiled(x)\n        compiled(x.requires_grad_())", "h = self.norm(x)", "requires_grad"),
    "recompile limit": (
        _LOOP,
        "    torch._dynamo.config.recompile_limit = 1\n" + _LOOP + "        net.blocks[0].scale += 0.5\n",
        "", "recompile_limit (1)",
    ),
    # Changes of the computed values, shapes and types.
    "activation": ("F.gelu(", "F.relu(", "h = F.relu(self.up(h))", "relu"),
    "order": ("x + h * self.scale", "h * self.scale - x", "return h * self.scale - x", "sub"),
    "removed norm": (_FORWARD, "        h = x\n", "h = self.norm(x)", "layer_norm"),
    "added operator": ("        h = self.down(h)", "        h = self.down(h).tanh()", "h = self.down(h).tanh()", "tanh"),
    "width": ("(16, 32)\n        self.down = torch.nn.Linear(32, 16)", "(16, 64)\n        self.down = torch.nn.Linear(64, 16)", "h = F.gelu(self.up(h))", "64]"),
    "reduction": ("x.mean(1)", "x.sum(1)", "x = x.sum(1)", "sum"),
    "dimension": ("        x = x.mean(1)\n        return self.head(x)", "        x = x.mean(1, keepdim=True)\n        return self.head(x)[:, 0]", "x = x.mean(1, keepdim=True)", "[4, 1, 16]"),
    "loss": ("(d * d).mean()", "d.abs().mean()", "return d.abs().mean()", "abs"),
    "more layers": ("range(2))\n        self.head", "range(3))\n        self.head", "h = self.norm(x)", "layer_norm"),
    "other length": ("torch.randn(4, 8, 16)", "torch.randn(4, 6, 16)", "h = self.norm(x)", "[4, 6, 16]"),
    "autocast": ("        y = compiled(x)", "        with torch.autocast('cpu', torch.bfloat16):\n            y = compiled(x)", "h = F.gelu(self.up(h))", "bf16"),
    "half precision": ("    net = Net()", "    net = Net().bfloat16()\n    torch.set_default_dtype(torch.bfloat16)", "h = self.norm(x)", "bf16"),
    "dropout": ("        h = self.down(h)", "        h = F.dropout(self.down(h), 0.1)", "h = F.dropout(self.down(h), 0.1)", "dropout"),
    # Changes of costs and of settings.
    "saved": ("        h = self.down(h)", "        h = self.down(h.exp().sin())", "h = self.down(h.exp().sin())", "exp"),
    "setting": ("    net = Net()", "    torch._dynamo.config.assume_static_by_default = False\n    net = Net()", "h = self.norm(x)", "[?, ?, 16]"),
    "library": ("h = self.down(h)", "h = self.down(h) @ torch.eye(16)", "h = self.down(h) @ torch.eye(16)", "matmul"),
    "dynamic": ("torch.compile(net)", "torch.compile(net, dynamic=True)", "h = self.norm(x)", "[?, ?, 16]"),
    "backend": ("torch.compile(net)", "torch.compile(net, backend='aot_eager')", "", "different backend"),
    "all on aot_eager": (
        "    compiled = torch.compile(net)\n    compiled_loss = torch.compile(loss)",
        "    compiled = torch.compile(net, backend='aot_eager')\n    compiled_loss = torch.compile(loss, backend='aot_eager')",
        "", "different backend",
    ),
    "loss not compiled": ("torch.compile(loss)", "loss", "", "not compiled"),
    "forward not compiled": ("torch.compile(net)", "net", "", "not compiled"),
    "new function": ("        y = compiled(x)\n", "        y = compiled(x)\n        torch.compile(lambda z: [z, print(1)])(x)\n", "torch.compile(lambda z: [z, print(1)])(x)", "graph break"),
}  # fmt: skip
