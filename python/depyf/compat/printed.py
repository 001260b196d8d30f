"""The functions with which PyTorch prints graphs, trees of guards and Inductor's IR, and the data that their texts
depend on."""

from __future__ import annotations

from typing import Any

from depyf.compat import private

_GUARDS = "torch._C._dynamo.guards"
_SCHEDULER = "torch._inductor.scheduler"
_WRITE_IR = "torch._inductor.debug:DebugFormatter._write_ir"
_IR_PARTS = (
    f"{_SCHEDULER}:SchedulerBuffer.debug_str",
    "torch._inductor.loop_body:LoopBody.debug_str",
    "torch._inductor.loop_body:LoopBodyBlock.debug_str",
    "torch._inductor.dependencies:MemoryDep.__repr__",
    "torch._inductor.ir:Layout.__str__",
)


def graph_function() -> object:
    """Returns the method that prints a graph module; None if this release of PyTorch lacks the method."""
    return private.get("torch.fx:GraphModule.print_readable")


def guard_function() -> object:
    """Returns the method that prints a tree of guards; None if this release of PyTorch lacks the method."""
    return private.get("torch._dynamo.guards:GuardManagerWrapper.__str__")


def ir_function() -> object:
    """Returns the function that prints Inductor's IR; None if this release of PyTorch lacks the function, or Inductor
    is not loaded."""
    return private.get(_WRITE_IR)


def ir_function_failed(error: Exception) -> None:
    """Records for `depyf doctor` that the function that prints Inductor's IR raised an exception."""
    private.not_found(_WRITE_IR, f"raised {type(error).__name__}: {error}")


def indents_blank_lines() -> bool:
    """True if this release of PyTorch prints spaces on the blank lines of a graph, instead of empty lines."""
    return bool(private.call("torch.nn.modules.module:_addindent", "a\n ", 4) == "a\n     ")


def qualified_name(function: object) -> str | None:
    """Returns the name under which a graph's text calls a function; None if this release of PyTorch has no function
    that returns the name."""
    name = private.call("torch.fx.node:_get_qualified_name", function)
    return None if name is None else str(name)


def guard_kinds() -> tuple[Any, Any]:
    """Returns two classes: the base class of guards on several values, and the class of guard managers of dicts. A
    class is None if this release of PyTorch lacks it."""
    return private.get(f"{_GUARDS}:RelationalGuard"), private.get(f"{_GUARDS}:DictGuardManager")


def ir_graph() -> Any:
    """Returns the graph that Inductor is compiling."""
    return private.get("torch._inductor.virtualized:V").graph


def ir_user_fields() -> list[str]:
    """Returns the names of the fields of `NodeUser`, Inductor's class for a node that uses a buffer."""
    return list(getattr(private.get(f"{_SCHEDULER}:NodeUser"), "__dataclass_fields__", ()))


def ir_part_functions() -> list[object]:
    """Returns the functions that print parts of the IR, with None for each function that this release of PyTorch
    lacks."""
    return [*map(private.get, _IR_PARTS)]


def sympy_settings() -> object:
    """Returns the settings of SymPy's printers that hold for all expressions."""
    return private.get("sympy.printing.printer:Printer._global_settings")
