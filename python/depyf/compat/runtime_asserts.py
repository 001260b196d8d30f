"""The conditions on symbolic sizes that a compiled graph checks when it runs."""

from __future__ import annotations

import re
from typing import Any

from depyf.compat import fx_nodes
from depyf.compat.private import guarded
from depyf.session import RuntimeAssert

# Matches the message that PyTorch writes into an assertion for which the program states no message.
_OWN_TEXT = re.compile(r"Runtime assertion failed for expression (?P<condition>.+) on node '\w*'\Z", re.DOTALL)
_ASSERTIONS = ("aten._assert_scalar.default", "torch._check", "_check", "torch._check_is_size", "_check_is_size")


@guarded(list)
def read(graph_module: Any) -> list[RuntimeAssert]:
    """Returns the assertions of a captured graph in their order, each condition once."""
    asserts: dict[str, RuntimeAssert] = {}
    for node in graph_module.graph.nodes:
        if node.op != "call_function" or not node.args or _name(node.target) not in _ASSERTIONS:
            continue
        text = node.args[1] if len(node.args) > 1 and isinstance(node.args[1], str) else ""
        own = _OWN_TEXT.match(text)
        condition = own["condition"] if own else _condition(node)
        line = fx_nodes.line_of(node)
        asserts.setdefault(condition, RuntimeAssert(condition, line, "" if own else text))
    return list(asserts.values())


def _name(target: Any) -> str:
    return str(target) if type(target).__name__ == "OpOverload" else str(getattr(target, "__name__", ""))


def _condition(node: Any) -> str:
    value = getattr(node.args[0], "meta", {}).get("example_value")
    return str(node.args[0] if value is None else value)
