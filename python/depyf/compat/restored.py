"""Entries that PyTorch restores from its cache of an earlier process (`torch._dynamo.config.caching_precompile`).

Restored entries precede the ordinary entries of Dynamo's cache, and PyTorch's functions return only the guards of
restored entries. The code of a restored entry is in the `CompilePackage` object from which PyTorch restored the entry.
The wrapper that torch.compile returns refers to the `CompilePackage` of the restored entries.
"""

from __future__ import annotations

import functools
import threading
import types
from collections.abc import Callable
from typing import Any

from depyf.compat import cache, intercept, private
from depyf.compat.private import guarded

_C = "torch._C._dynamo.eval_frame"
_PACKAGE = "torch._dynamo.package"
Receive = Callable[[types.CodeType, Any, types.CodeType], None]

_installing = threading.local()
"""The attribute `now` is True, for each thread, while the thread installs restored entries. No lock is needed, as each
thread has its own value of `now`. The attribute `now` is cleared when the thread has installed the entries, also in the
thread of a forked child."""


def add_hook(receive: Receive) -> Callable[[], None]:
    """Calls `receive(original code, guard manager, transformed code)` for each entry that is restored. While `receive`
    runs, the current compilation of PyTorch is that of the restored entry. Returns a function that removes the callback
    `receive`."""
    path = f"{_C}:_load_precompile_entry"
    load_entry, module = cache.loader(), private.module_of(path)
    if load_entry is None or module is None:
        return lambda: None

    @functools.wraps(load_entry)
    def load_and_tell(code: types.CodeType, manager: Any, transformed: types.CodeType) -> None:
        load_entry(code, manager, transformed)
        if getattr(_installing, "now", False):
            receive(code, manager, transformed)

    def answer(original: Callable[..., Any]) -> intercept.Call:
        def call(args: tuple[Any, ...], kwargs: dict[str, Any], caller: str) -> Any:
            _installing.now = True
            try:
                return original(*args, **kwargs)
            finally:
                _installing.now = False

        return call

    interception = intercept.Interception(private.get(f"{_PACKAGE}:CompilePackage.install"), answer)
    name = path.rpartition(":")[2]
    setattr(module, name, load_and_tell)  # PyTorch imports the name each time that it installs entries.
    interception.set(may_be_compiled=True)

    def remove() -> None:
        interception.take_away()
        if vars(module).get(name) is load_and_tell:  # No other code has replaced the function since.
            setattr(module, name, load_entry)

    return remove


def codes_of(wrapper: Any, original: types.CodeType) -> list[types.CodeType]:
    """Returns the transformed code of each entry that was restored for a function, in the order in which Dynamo tries
    the entries.

    Args:
        wrapper: the result of torch.compile for the function.
        original: the code of the function, or of one of its resume functions.
    """
    package = private.of(
        cache.context_of(wrapper), "torch._dynamo.eval_frame:_TorchDynamoContext._package", otherwise=None
    )
    return [] if package is None else _codes_in(package, original)


@guarded(list)
def _codes_in(package: Any, original: types.CodeType) -> list[types.CodeType]:
    known = private.of(package, f"{_PACKAGE}:CompilePackage._codes", otherwise={})
    entry = next((entry for code, entry in known.items() if code is original), None)
    restore = private.get(f"{_PACKAGE}:SerializedCode.to_code_object")
    if entry is None or restore is None:
        return []
    return [restore(guarded_code.dynamo_code) for guarded_code in entry.guarded_codes]
