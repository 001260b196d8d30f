"""Replaces the compiled graphs of an entry by edited files of Inductor's output code."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from depyf.compat import dynamo, kernels
from depyf.toolkit.callees import by_name

if TYPE_CHECKING:
    from depyf.toolkit.entries import CacheEntry


def replace_kernels(copy: CacheEntry, given: Any) -> None:
    """Makes the graphs of `copy` run edited files of output code. `given` is the argument `kernel` of
    `CacheEntry.edit`: a path, a mapping from names of graphs to paths, or a mapping from "forward" and "backward" to
    paths.

    Raises:
        ValueError: Inductor did not compile the graph in this process, or the file is not its output code.
        OSError, SyntaxError: a file cannot be read or parsed.
        TypeError: `given` contains something other than paths.
    """
    if isinstance(given, Mapping) and given.keys() <= set(kernels.DIRECTIONS):
        given = {name: given for name in _only_graph(copy)}
    for name, files in by_name(copy, given, "kernel").items():
        graph = next(candidate for candidate in copy.graphs if candidate.full_name == name)
        by_direction = files if isinstance(files, Mapping) else {"forward": files}
        compiled = kernels.compiled_graphs(copy.bound[name])
        new = []
        for direction, path in by_direction.items():
            if direction not in kernels.DIRECTIONS:
                raise ValueError(
                    f"{graph.name}: the direction {direction!r} is unknown; the directions are forward and backward"
                )
            if not isinstance(path, (str, Path)):
                raise TypeError(f"kernel= is the path of a file of output code, not {type(path).__name__}")
            if direction not in compiled:
                raise ValueError(f"{graph.name}: {_why_missing(direction, compiled)}")
            new.append((compiled[direction], kernels.load(str(path), compiled[direction])))
        copy.bound[name] = dynamo.not_compiled(kernels.with_kernels(copy.bound[name], new))


def _only_graph(copy: CacheEntry) -> list[str]:
    return list(by_name(copy, None, "kernel"))


def _why_missing(direction: str, compiled: Mapping[str, Any]) -> str:
    if direction == "backward" and compiled:
        return "no backward has been compiled: Inductor does that when one is first run"
    return "Inductor did not compile this graph: only its graphs have output code"
