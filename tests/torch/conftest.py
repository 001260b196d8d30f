"""Fixtures of the tests that run torch.compile."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import pytest

# Compiled C++ kernels are reused between test runs, by their source; Inductor itself compiles anew in each test.
os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(Path(__file__).parents[2] / ".cache" / "inductor"))
os.environ.setdefault("OMP_NUM_THREADS", "1")

torch = pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def fresh_torch():
    """When a test begins, no function is compiled and Inductor's caches are empty. When a test ends, none of depyf's
    hooks may be left."""
    import torch._dynamo
    import torch._functorch.config
    import torch._inductor.config

    from depyf.compat import private
    from torch_helpers import hooks

    torch._dynamo.reset()
    before = hooks()
    # depyf warns of a lost name once in a process. A lost name that one test simulates must not suppress the warning in
    # the next test.
    losses = dict(private.losses)
    with (
        torch._inductor.config.patch(fx_graph_cache=False),
        torch._functorch.config.patch(enable_autograd_cache=False),
        torch._dynamo.config.patch(automatic_dynamic_local_pgo=False),
        warnings.catch_warnings(),
    ):
        yield
    private.losses.clear()
    private.losses.update(losses)
    assert hooks() == before
    torch._dynamo.reset()
