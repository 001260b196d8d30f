"""What the guards of a block's compilations say: as a list, what they come from, and which of them fail later."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from depyf import guards
from depyf.compat import dynamo, origins
from depyf.guards.failures import failure
from depyf.guards.frontier import frontier
from depyf.session import Failure, Limit, Symbol

# Of one compilation; what is more tells no more.
_MOST_FAILURES = 20
# On the state of the process. While Dynamo compiles it is not what it was when the call was made.
_STATE = ("GLOBAL_STATE", "TORCH_FUNCTION_MODE_STACK", "DEFAULT_DEVICE", "LAMBDA_GUARD")


@dataclass
class Guarded:
    """The guards of one compilation."""

    guards: guards.Guards
    origins: origins.Origins
    frontier: list[Limit]

    @property
    def symbols(self) -> list[Symbol]:
        """Its symbolic sizes."""
        return self.origins.symbols


class Guarding:
    """The guards of all compilations of a block. They hold objects of PyTorch, so `close` lets them go."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, Guarded]] = {}

    def made(self, manager: Any, local: dict[str, Any], builder: Any) -> Guarded | None:
        """Reads the guards of a compilation when they are made; None if this PyTorch has no tree of guards."""
        found = origins.read(builder)
        read = guards.read(manager, local, found.line_of)
        if read is None:
            return None
        guarded = Guarded(read, found, frontier(read, found.symbols))
        self._known[id(manager)] = (manager, guarded)
        return guarded

    def failures(self, reasons: list[str]) -> list[Failure]:
        """Why none of a function's compilations serves the call that is compiled now.

        To be called while PyTorch tells its own reasons, which are used where the guards say nothing.
        """
        call = dynamo.call_to_compile()
        if call is None:
            return [_told(reason) for reason in reasons]
        code, local = call
        found: list[Failure] = []
        for entry in dynamo.live_entries(code):
            told = [reason for reason in reasons if reason.startswith(f"{entry.compile_id}:")]
            failing = self._failing(entry, local, any(word in reason for reason in told for word in _STATE))
            found += failing or [_told(reason) for reason in told]
        return found

    def _failing(self, entry: dynamo.Live, local: dict[str, Any], state: bool) -> list[Failure]:
        manager = entry.guard_manager
        known = self._known.get(id(manager))
        listed = known[1].guards if known is not None else guards.read(manager)
        scope = dynamo.globals_of(manager)
        if listed is None or scope is None:
            return []
        failing = [(one, text) for one, text in listed.check(local, scope).failing if one.quiet or state]
        origins_of = {limit.subject: limit.origin for limit in known[1].frontier} if known is not None else {}
        found = []
        for one, text in failing[:_MOST_FAILURES]:
            told = failure(one, text, local, scope)
            origin = origins_of.get(told.subject, "") if told.line is None else ""
            found.append(replace(told, entry=entry.compile_id or "", origin=origin))
        return found

    def close(self) -> None:
        """Lets PyTorch's objects go."""
        self._known.clear()


def _told(reason: str) -> Failure:
    """A reason in PyTorch's words."""
    entry, _, text = reason.partition(": ")
    first = text.partition("\n")[0].strip()
    return Failure(first, "", "", "", entry=entry)
