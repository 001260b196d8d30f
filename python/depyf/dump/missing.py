"""Lists the files that a compilation should have written to a dump and did not write."""

from __future__ import annotations

from depyf.session import Artifact, Frame, Missing

# The following stages exist only if Inductor compiles the graph itself and does not take the result from its cache.
_NOT_IN_CACHE = ("BEFORE_PRE_GRAD", "AFTER_PRE_GRAD")
_OF_DIRECTION_NOT_IN_CACHE = ("BEFORE_POST_GRAD", "ir_pre_fusion", "ir_post_fusion")
_ELSEWHERE = "Inductor generated it in another process; to have it here, set TORCHINDUCTOR_FX_COMPILE_MODE=NORMAL"
_FRESH = "to generate it again, set torch._inductor.config.force_disable_caches = True before the first call"


_RESTORED = "generated in the process that compiled the function; `depyf open FILE` shows everything that was saved"


def missing_artifacts(
    frame: Frame, cached: set[str | None], *, elsewhere: bool = False, restored: bool = False
) -> list[Missing]:
    """Returns the artifacts that a compilation should have and lacks, each with the reason; `frame` describes the
    compilation.

    Args:
        cached: the directions ("forward", "backward") whose results came from a cache; the element None stands for both
            directions.
        elsewhere: true if Inductor compiled in another process.
        restored: true if another process compiled the function, and this process loaded the result.
    """
    if restored:
        return [Missing("the earlier stages", _RESTORED)]
    if frame.status == "compiled before":
        why = "compiled before the block; call torch._dynamo.reset() before the block, or make the first call in it"
        return [Missing("graphs and kernels", why)]
    have = {artifact.kind for artifact in frame.artifacts}
    missing = []
    if frame.status == "compiled" and frame.compiled_fn is not None and "Captured_Graph" not in have:
        missing.append(Missing("Captured_Graph", "PyTorch's structured trace did not report it"))
    if "kernel" in have or "AFTER_POST_GRAD" in have:
        missing += [Missing(kind, _why(bool(cached))) for kind in _NOT_IN_CACHE if kind not in have]
        there = {(artifact.kind, _direction(artifact)) for artifact in frame.artifacts}
        for direction in ("forward", "backward"):
            if not {("kernel", direction), ("AFTER_POST_GRAD", direction)} & there:
                continue
            graph = f"{direction.capitalize()}_graph"
            why = _ELSEWHERE if elsewhere else _why(direction in cached or None in cached)
            missing += [
                Missing(kind, why, direction)
                for kind in (graph, *_OF_DIRECTION_NOT_IN_CACHE, *(("AFTER_POST_GRAD",) if elsewhere else ()))
                if (kind, direction) not in there
            ]
        backward = any(artifact.direction == "backward" for artifact in frame.artifacts if artifact.kind == "kernel")
        if "Backward_graph" in have and not backward:
            missing.append(
                Missing(
                    "backward kernel", "the backward was not called in the block; PyTorch compiles it at the first call"
                )
            )
    return missing


def _why(cached: bool) -> str:
    return f"the result came from a cache; {_FRESH}" if cached else "Inductor did not report it"


def _direction(artifact: Artifact) -> str:
    return "backward" if artifact.direction == "backward" else "forward"
