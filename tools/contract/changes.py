"""Seeded changes of a program, each of which `depyf diff` and `depyf check` have to name at its line.

A change is (the text in the program, what replaces it, a text that the place or the sentence of one difference has to hold).
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

CHANGES: dict[str, tuple[str, str, str]] = {
    # Graph breaks.
    "print": (_FORWARD, '        print("hello")\n' + _FORWARD, 'print("hello")'),
    "logging": (_FORWARD, '        log.warning("x")\n' + _FORWARD, 'log.warning("x")'),
    "explicit break": (_FORWARD, "        torch._dynamo.graph_break()\n" + _FORWARD, "graph_break()"),
    "item": ("h * self.scale", "h * h.sum().item()", "h.sum().item()"),
    "tolist": (_FORWARD, "        torch.ones(1).to(x).tolist()\n" + _FORWARD, "tolist()"),
    "branch on data": ("        x = x.mean(1)", "        if x.sum() > 1e9:\n            x = x + 1\n        x = x.mean(1)", "x.sum() > 1e9"),
    "disabled function": (
        "def loss(y, t):\n    d = y - t",
        "@torch.compiler.disable\ndef minus(y, t):\n    return y - t\n\ndef loss(y, t):\n    d = minus(y, t)",
        "minus(y, t)",
    ),
    "builtin": (_FORWARD, "        breakpointless = input if x is None else open('/dev/null')\n" + _FORWARD, "open('/dev/null')"),
    "break in the loss": ("    d = y - t", '    print("loss")\n    d = y - t', 'print("loss")'),
    # Recompilations.
    "batch": ("torch.randn(4, 8, 16)", "torch.randn(4 + _, 8, 16)", "x.shape"),
    "sequence": ("torch.randn(4, 8, 16)", "torch.randn(4, 8 + _, 16)", "x.shape"),
    "attribute": (_LOOP, _LOOP + "        net.blocks[0].scale += 0.5\n", "scale"),
    "text": (_LOOP, _LOOP + "        net.blocks[0].mode = str(_)\n", None),  # nothing reads it
    "text that is read": (
        "        return x + h * self.scale",
        "        self.mode = self.mode + '.'\n        return x + h * (0.5 if self.mode else 1.0)",
        "self.mode",
    ),
    "list that grows": (
        "        return x + h * self.scale",
        "        self.steps.append(1)\n        return x + h * len(self.steps)",
        "self.steps",
    ),
    "grad mode": (_LOOP, "    with torch.no_grad():\n        compiled(torch.randn(4, 8, 16))\n" + _LOOP, "grad"),
    "type of the input": ("        y = compiled(x)", "        y = compiled(x)\n        net.double()(x.double())\n        compiled(x.double())\n        net.float()", "float64"),
    "strides": ("        y = compiled(x)", "        y = compiled(x)\n        compiled(x.transpose(0, 1).contiguous().transpose(0, 1))", "stride"),
    "gradient of the input": ("        y = compiled(x)", "        y = compiled(x)\n        compiled(x.requires_grad_())", "requires_grad"),
    "recompile limit": (
        _LOOP,
        "    torch._dynamo.config.recompile_limit = 1\n" + _LOOP + "        net.blocks[0].scale += 0.5\n",
        "recompile_limit",
    ),
    # What is computed.
    "activation": ("F.gelu(", "F.relu(", "F.relu(self.up(h))"),
    "order": ("x + h * self.scale", "h * self.scale - x", "h * self.scale - x"),
    "removed norm": (_FORWARD, "        h = x\n", "self.norm(x)"),
    "added operator": ("        h = self.down(h)", "        h = self.down(h).tanh()", "self.down(h).tanh()"),
    "width": ("(16, 32)\n        self.down = torch.nn.Linear(32, 16)", "(16, 64)\n        self.down = torch.nn.Linear(64, 16)", "self.up(h)"),
    "reduction": ("x.mean(1)", "x.sum(1)", "x.sum(1)"),
    "dimension": ("        x = x.mean(1)\n        return self.head(x)", "        x = x.mean(1, keepdim=True)\n        return self.head(x)[:, 0]", "x.mean(1, keepdim=True)"),
    "loss": ("(d * d).mean()", "d.abs().mean()", "d.abs().mean()"),
    "more layers": ("range(2))\n        self.head", "range(3))\n        self.head", "self.norm(x)"),
    "other length": ("torch.randn(4, 8, 16)", "torch.randn(4, 6, 16)", "self.norm(x)"),
    "autocast": ("        y = compiled(x)", "        with torch.autocast('cpu', torch.bfloat16):\n            y = compiled(x)", "self.up(h)"),
    "half precision": ("    net = Net()", "    net = Net().bfloat16()\n    torch.set_default_dtype(torch.bfloat16)", "bf16"),
    "dropout": ("        h = self.down(h)", "        h = F.dropout(self.down(h), 0.1)", "F.dropout"),
    # Costs and settings.
    "saved": ("        h = self.down(h)", "        h = self.down(h.exp().sin())", "self.down(h.exp().sin())"),
    "setting": ("    net = Net()", "    torch._dynamo.config.assume_static_by_default = False\n    net = Net()", "self.norm(x)"),
    "library": ("h = self.down(h)", "h = self.down(h) @ torch.eye(16)", "torch.eye(16)"),
    "dynamic": ("torch.compile(net)", "torch.compile(net, dynamic=True)", "self.norm(x)"),
    "backend": ("torch.compile(net)", "torch.compile(net, backend='aot_eager')", None),  # the loss has kernels still
    "all on aot_eager": (
        "    compiled = torch.compile(net)\n    compiled_loss = torch.compile(loss)",
        "    compiled = torch.compile(net, backend='aot_eager')\n    compiled_loss = torch.compile(loss, backend='aot_eager')",
        "another backend",
    ),
    "loss not compiled": ("torch.compile(loss)", "loss", "not compiled"),
    "forward not compiled": ("torch.compile(net)", "net", "not compiled"),
    "new function": ("        y = compiled(x)\n", "        y = compiled(x)\n        torch.compile(lambda z: [z, print(1)])(x)\n", "print(1)"),
}  # fmt: skip
