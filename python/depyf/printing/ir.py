"""Prints Inductor's IR as Inductor prints it, in a fraction of Inductor's time.

The text of a node of the IR is the result of `BaseSchedulerNode.debug_str`: the node's writes and reads, its buffers,
and lines for the kind of node, such as the body of a loop. The printer learns from Inductor's own text which kinds of
nodes it can print (see `learning`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from depyf import _core, names
from depyf.compat import printed
from depyf.printing import sympy_text
from depyf.printing.learning import Learner

# The names that PyTorch's printing functions use in the known releases. A printing function that uses a name outside of
# `_USED` belongs to an unknown release, and PyTorch prints the IR of an unknown release.
_USED = set(
    "AssertionError Exception IndentedBuffer LoopBody TorchBindObject V WeakDep __name__ _body _debug_str_for_device _sizes "
    "append chain code debug_device_str debug_str debug_str_extra device dict dtype enumerate extend fx get_aliases get_buffer "
    "get_mutations get_name get_outputs getattr getrawvalue graph GraphModule group indent index indexing_exprs ir is_pinned "
    "isinstance items itertools join layout len log max_input_distance min_input_distance mode name node offset pformat ranges re "
    "read_writes reads reads_and_writes replace root_block rstrip size snodes splice strip stride sub subblocks submodules body "
    "textwrap torch type unmet_dependencies users var_ranges warning writeline writes".split()
)
_USER = ["node", "can_inplace", "is_weak"]
_MOST_KEPT = 4096  # the largest number of expressions whose texts are kept


class Printer:
    """Prints Inductor's IR, and learns which kinds of nodes it can print."""

    def __init__(self) -> None:
        self._learner = Learner()
        self._known: dict[type, bool] = {}
        self._texts = _core.IrTexts(_expression)

    def forget(self) -> None:
        """Releases the cached texts, and the objects to which the texts belong."""
        self._texts = _core.IrTexts(_expression)

    def text(self, nodes: Iterable[Any]) -> str:
        """Returns the text of all nodes, as `DebugFormatter._write_ir` returns it."""
        if self._texts.expressions > _MOST_KEPT:
            self.forget()
        # Texts that SymPy prints in an unusual format are not kept, because the format may change.
        texts = self._texts if sympy_text.is_right() else _core.IrTexts(str)
        ir = _core.IrText(texts, printed.ir_graph())
        return "".join([f"{self._text(ir, node)}\n\n\n" for node in nodes])

    def _text(self, ir: _core.IrText, node: Any) -> str:
        kind, own = type(node), node.debug_str
        if kind not in self._known:
            self._known[kind] = _makes_known_text(kind)
        if not self._known[kind]:
            return str(own())

        def text(parts: set[Any]) -> str:
            node_text, kinds = ir.node(node)
            parts |= kinds
            return node_text

        return self._learner.text(text, own)


def _expression(expression: Any) -> str:
    """Returns the text of a SymPy expression."""
    return sympy_text.usual_text(expression) or str(expression)


def _makes_known_text(kind: type) -> bool:
    """True if the printing functions for nodes of this kind use only names in `_USED`, so that this module knows the
    format of their text."""
    functions = [*printed.ir_part_functions(), getattr(kind, "debug_str", None), getattr(kind, "debug_str_extra", None)]
    codes = [getattr(function, "__code__", None) for function in functions]
    return printed.ir_user_fields() == _USER and all(
        code is not None and all(_USED.issuperset(nested.co_names) for nested in names.nested_codes(code))
        for code in codes
    )
