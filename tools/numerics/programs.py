"""The programs in which faults of `faults.py` must be found. The comment of the line at fault contains the `mark` of
the fault."""

from __future__ import annotations

from torch.nn import functional as F

import torch


def mean_of_relu(x, w):
    h = torch.relu(x @ w)
    m = h.mean(-1, keepdim=True)  # MEAN
    return torch.tanh(h - m) * 2  # TANH


def softmax_scores(x, w):
    scores = x @ w
    scores = scores * 0.125
    p = torch.softmax(scores, -1)  # SOFTMAX
    return p @ w.t()  # MM


def gelu_net(x, w):
    h = x @ w
    g = F.gelu(h)  # GELU
    return (g * g).sum(-1)  # SUM


def silu_gate(x, w):
    a, b = (x @ w).chunk(2, -1)
    s = F.silu(a)  # SILU
    return s * b  # MUL


def normalised(x, w):
    h = F.layer_norm(x, (x.shape[-1],))  # LAYER_NORM
    y = h @ w
    return y - y.exp().log1p()  # EXP SUB


def difference(x, y):
    a = torch.sin(x)  # SIN
    b = torch.cos(y)  # COS
    c = a - b  # SUB
    return c / (y.abs() + 1.5)  # DIV


def neighbours(x, y):
    a = x.transpose(0, 1).contiguous() + 1
    b = a[1:, :] * 2 + y.t()[:-1, :]  # SLICE
    return b.cumsum(0)  # CUMSUM


def variance(x):
    v = torch.var(x, -1)  # VAR
    s = torch.sqrt(v + 1e-5)  # SQRT
    return x / s.unsqueeze(-1)  # DIV


def sigmoid_loss(x, w):
    z = torch.sigmoid(x @ w)  # SIGMOID
    return -(z.log().mean())  # LOG


def clamped(x, y):
    a = torch.clamp(x * 3, -1.0, 1.0)  # CLAMP
    b = torch.where(a > y, a, y)  # WHERE
    return b.amax(-1) + a.argmax(-1)  # AMAX ARGMAX


def running_state(x, state):
    state.mul_(0.9)  # STATE_MUL
    state.add_(x.mean(0))  # STATE_ADD
    return x - state  # SUB


def view_state(x, state):
    row = state[1]
    row.copy_(x.sum(0))  # VIEW_COPY
    return state.sum(0) * 2  # SUM


def casts(x, w):
    h = (x.to(torch.float16) @ w.to(torch.float16)).float()  # HALF_MM
    total = h.sum(-1)  # SUM
    return total.to(torch.int32) + 1  # TO_INT


def accumulated(x):
    h = x.to(torch.bfloat16)
    s = h.sum(-1, dtype=torch.float32)  # BF16_SUM
    return s / x.shape[-1]  # DIV


def convolved(x, w):
    y = F.conv2d(x, w, padding=1)  # CONV
    y = F.max_pool2d(F.relu(y), 2)  # POOL
    return y.mean((2, 3))  # MEAN


def embedded(table, index):
    e = F.embedding(index, table)  # EMBEDDING
    return F.softplus(e).sum(1)  # SOFTPLUS


def powers(x, y):
    a = x.abs().pow(1.5)  # POW
    b = torch.rsqrt(a + 1)  # RSQRT
    return b * torch.erf(y)  # ERF


def cross(x, w, target):
    logits = x @ w
    return F.cross_entropy(logits, target)  # CROSS


def attention(q, k, v):
    return F.scaled_dot_product_attention(q, k, v) * 2  # SDPA


def stacked(x, y):
    z = torch.cat([x * 2, y + 1], 1)  # CAT
    return torch.flip(z, [1]).tril()  # FLIP


def broken(x, w):
    h = torch.relu(x @ w)  # BEFORE
    torch._dynamo.graph_break()
    return torch.exp(h * 0.1)  # AFTER
