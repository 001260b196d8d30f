"""What the text of one node of Inductor's IR is made of: while that is the same, so is the text.

The IR is logged before and after fusion, and nodes on their own are most often the same in both.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

from depyf.compat import private
from depyf.compat.unchanged import State

# What the functions that make the text use. One that uses more is of a release that is not known here.
_USED = set(
    "AssertionError Exception IndentedBuffer LoopBody TorchBindObject V WeakDep __name__ _body _debug_str_for_device _sizes "
    "append chain debug_str debug_str_extra dict enumerate extend get_aliases get_buffer get_mutations get_name get_outputs "
    "getattr getrawvalue graph group indent indexing_exprs ir isinstance items itertools join layout len log "
    "max_input_distance min_input_distance name node pformat read_writes reads reads_and_writes root_block rstrip splice "
    "subblocks textwrap type unmet_dependencies users var_ranges warning writeline writes".split()
)
_LAYOUTS = ("FixedLayout", "FlexibleLayout", "NoneLayout", "MultiOutputLayout")
_NODES = (
    "torch._inductor.scheduler:SchedulerNode",
    "torch._inductor.scheduler:ExternKernelSchedulerNode",
    "torch._inductor.scheduler:NopKernelSchedulerNode",
)


class States:
    """Of the nodes of this release of PyTorch; of none where it makes their text in another way."""

    def __init__(self) -> None:
        self._virtualized: Any = private.get("torch._inductor.virtualized:V")
        buffer = private.get("torch._inductor.scheduler:SchedulerBuffer.debug_str")
        loop = private.get("torch._inductor.loop_body:LoopBody.debug_str")
        self._types = {kind for path in _NODES if _is_known(kind := private.get(path), buffer, loop)}

    def of(self, node: Any) -> State | None:
        """None where more goes into the text than is looked at here."""
        try:
            return self._of(node) if type(node) in self._types else None
        except Exception:  # of another release, or not what it should be: PyTorch makes the text
            return None

    def _of(self, node: Any) -> State | None:
        reads_writes = node.read_writes
        objects: list[Any] = [node.node, type(node.node), reads_writes]
        values: list[Any] = [
            node.get_name(),
            *(vars(node).get(name) for name in ("min_input_distance", "max_input_distance")),  # not in all releases
            getattr(node.node, "python_kernel_name", None),
        ]
        for dependencies in (reads_writes.writes, reads_writes.reads, node.unmet_dependencies):
            objects += (*dependencies, None)
        layouts = []
        for output in node.get_outputs():
            objects += (output, output.node)
            values += (output.get_name(), [*output.get_aliases()], [*output.get_mutations()])
            layouts.append(output.node.layout)
            for user in output.users:
                objects += vars(user).values()
                values.append(user.get_name())
        if type(node).__name__ == "SchedulerNode":
            if node.group[0].type != "cpu":  # code of another device is part of the text
                return None
            for dependency in reads_writes.reads_and_writes():
                buffer = self._virtualized.graph.get_buffer(dependency.name)
                objects.append(buffer)
                layouts.append(getattr(buffer, "layout", None))
            objects += (node.group, node._sizes)
            objects += (one for sizes in node._sizes for one in sizes)
            _add_body(objects, node._body)
        for layout in layouts:
            if layout is not None and type(layout).__name__ not in _LAYOUTS:
                return None
            objects.append(layout)
            for value in vars(layout).values() if layout is not None else ():
                objects += value if isinstance(value, (list, tuple)) else (value,)
        return State(objects, values)


def _is_known(kind: Any, *others: Any) -> bool:
    """Is the text of such nodes made of nothing else than is looked at here?"""
    codes = [
        getattr(one, "__code__", None) for one in (kind and kind.debug_str, kind and kind.debug_str_extra, *others)
    ]
    return all(code is not None and set(_names_in(code)) <= _USED for code in codes)


def _add_body(objects: list[Any], body: Any) -> None:
    objects.append(body)
    for table in (body.var_ranges, body.indexing_exprs, body.subblocks):
        objects += table.values()
        objects += table
    for block in (body.root_block, *body.subblocks.values()):
        objects.append(block.graph)
        for node in block.graph.nodes:
            objects += (node.op, node.name, node.target, node.args, node.kwargs)


def _names_in(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from _names_in(const)
