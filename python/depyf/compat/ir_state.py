"""What the text of one node of Inductor's IR is made of: while that is the same, so is the text.

The IR is logged before and after fusion, and nodes on their own are most often the same in both.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from operator import attrgetter
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


_parts_of = attrgetter("op", "name", "target", "args", "kwargs")


class States:
    """Of the nodes of this release of PyTorch; of none where it makes their text in another way."""

    def __init__(self) -> None:
        self._virtualized: Any = private.get("torch._inductor.virtualized:V")
        buffer = private.get("torch._inductor.scheduler:SchedulerBuffer.debug_str")
        loop = private.get("torch._inductor.loop_body:LoopBody.debug_str")
        self._types = {kind for path in _NODES if _is_known(kind := private.get(path), buffer, loop)}
        # While one text of the whole IR is made, neither changes, and many nodes use the same.
        self._buffers: dict[str, Any] = {}
        self._layouts: dict[int, tuple[Any, list[Any] | None]] = {}

    def forget(self) -> None:
        """To be called when the text of the IR is made."""
        self._buffers.clear()
        self._layouts.clear()

    def of(self, node: Any) -> State | None:
        """None where more goes into the text than is looked at here."""
        try:
            return self._of(node) if type(node) in self._types else None
        except Exception:  # of another release, or not what it should be: PyTorch makes the text
            return None

    def _of(self, node: Any) -> State | None:
        reads_writes = node.read_writes
        objects: list[Any] = [node.node, type(node.node), reads_writes]
        fields = vars(node)
        values: list[Any] = [
            node.get_name(),
            fields.get("min_input_distance"),  # not in all releases
            fields.get("max_input_distance"),
            getattr(node.node, "python_kernel_name", None),
        ]
        for dependencies in (reads_writes.writes, reads_writes.reads, node.unmet_dependencies):
            objects += [one for one in dependencies]  # noqa: C416 - the set's length is asked in Python
            objects.append(None)
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
                name = dependency.name
                if name not in self._buffers:
                    self._buffers[name] = self._virtualized.graph.get_buffer(name)
                buffer = self._buffers[name]
                objects.append(buffer)
                layouts.append(getattr(buffer, "layout", None))
            objects += (node.group, node._sizes)
            for sizes in node._sizes:
                objects += sizes
            _add_body(objects, node._body)
        for layout in layouts:
            if id(layout) not in self._layouts:
                self._layouts[id(layout)] = layout, _of_layout(layout)
            parts = self._layouts[id(layout)][1]
            if parts is None:
                return None
            objects += parts
        return State(objects, values)


def _of_layout(layout: Any) -> list[Any] | None:
    """What the text of a layout is made of; None of a kind that is not known here."""
    if layout is None:
        return [None]
    if type(layout).__name__ not in _LAYOUTS:
        return None
    parts = [layout]
    for value in vars(layout).values():
        if isinstance(value, (list, tuple)):
            parts += value
        else:
            parts.append(value)
    return parts


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
            objects += _parts_of(node)


def _names_in(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from _names_in(const)
