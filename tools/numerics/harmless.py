"""Runs programs with and without `depyf.numerics` in them. Results, gradients, state and random numbers must be the
same bits.

python tools/numerics/harmless.py [--count 20] [--backend aot_eager]
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Callable
from typing import Any

import torch._inductor.config
from torch._dynamo.utils import counters

import depyf
import sound
import torch
from torch import nn


def tensors(value: Any) -> list[Any]:
    if isinstance(value, torch.Tensor):
        return [value]
    return [tensor for item in value for tensor in tensors(item)] if isinstance(value, (list, tuple)) else []


def digest(make: Callable[[], sound.Case], backend: str, with_numerics: bool) -> str:
    """Calls a program twice, with `depyf.numerics` between the calls if `with_numerics`, and runs the backward. Returns
    a hash of the results, inputs, state, gradients, random numbers and counters of torch._dynamo."""
    torch.manual_seed(1)
    torch._dynamo.reset()
    counters.clear()
    function, inputs = make()
    compiled = torch.compile(function, backend=backend)
    results = tensors(compiled(*inputs))
    if with_numerics:
        depyf.numerics(compiled, *inputs)
    results += tensors(compiled(*inputs))
    roots = [value for value in results if value.requires_grad]
    leaves = [value for value in tensors(list(inputs)) if value.requires_grad]
    leaves += list(function.parameters()) if isinstance(function, nn.Module) else []
    if roots:
        sum(value.double().abs().sum() for value in roots).backward()
    state = list(function.state_dict().values()) if isinstance(function, nn.Module) else []
    gradients = [leaf.grad for leaf in leaves if leaf.grad is not None]
    left = hashlib.sha256()
    for value in [*results, *tensors(list(inputs)), *state, *gradients, torch.rand(3), torch.get_rng_state()]:
        left.update(f"{value.dtype} {tuple(value.shape)} {value._version}".encode())
        left.update(value.detach().contiguous().view(-1).view(torch.uint8).numpy().tobytes())
    left.update(repr(sorted((key, sorted(counts.items())) for key, counts in counters.items())).encode())
    return left.hexdigest()


def main() -> int:
    """Runs the command, and returns its exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20, help="run only this number of programs (default: 20)")
    parser.add_argument(
        "--backend", default="aot_eager", help="the backend that compiles the programs (default: aot_eager)"
    )
    arguments = parser.parse_args()
    # otherwise the second run would load the compiled code of the first
    torch._inductor.config.force_disable_caches = True
    same = total = 0
    for name, make in list(sound.cases().items())[: arguments.count]:
        digests = [digest(make, arguments.backend, with_numerics) for with_numerics in (False, True)]
        total += 1
        same += digests[0] == digests[1]
        print(f"{'ok' if digests[0] == digests[1] else 'OTHER':6} {name}", flush=True)
    print(f"{total} programs, {same} bit for bit the same with numerics as without")
    return int(same < total)


if __name__ == "__main__":
    sys.exit(main())
