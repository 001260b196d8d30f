"""The original depyf's wrapper that calls compiled code without checking guards. New code can use `depyf.cache_entries`
instead of `TorchCompileWrapperWithCustomDispatcher`."""

from __future__ import annotations

import abc
import contextlib
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from depyf.compat import at_work, dynamo

__all__ = ["TorchCompileWrapperWithCustomDispatcher"]


class TorchCompileWrapperWithCustomDispatcher(abc.ABC):
    """Keeps the code that Dynamo generates for the `forward` of a subclass, which the subclass can then call without
    Dynamo's guards.

    Nothing checks that a call fits the code that it is dispatched to. During a dispatch, the method `forward`
    has the chosen code for all objects of the class, so calls of several threads must not overlap.

    Args:
        compiled_callable: the result of `torch.compile` for `forward`.
        use_custom_dispatcher: becomes an attribute of the same name, which only subclasses read.

    Attributes:
        compiled_codes: the code objects that Dynamo generated, in the order of the compilations.
        original_code_object: the code of the `forward` that the user wrote.

    Example:

        class Wrapper(TorchCompileWrapperWithCustomDispatcher):
            def __init__(self):
                super().__init__(torch.compile(self.forward, backend="eager"))

            def forward(self, x):
                return x + 1

            def __call__(self, x):
                if not self.compiled_codes:
                    return self.compiled_callable(x)
                with self.dispatch_to_code(0):
                    return self.forward(x)
    """

    def __init__(self, compiled_callable: Callable[..., Any], use_custom_dispatcher: bool = True) -> None:
        self.compiled_callable = compiled_callable
        self.original_code_object: types.CodeType = self._function().__code__
        self.compiled_codes: list[types.CodeType] = []
        self.use_custom_dispatcher = use_custom_dispatcher
        # The bytecode hook must not keep the object `self` alive.
        this = weakref.ref(self)

        def hook(old_code: types.CodeType, new_code: types.CodeType) -> types.CodeType | None:
            wrapper = this()
            return None if wrapper is None else wrapper.bytecode_hook(old_code, new_code)

        self._finalizer = weakref.finalize(self, dynamo.add_bytecode_hook(hook))
        self._finalizer.atexit = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the compiled callable; a subclass may replace this method."""
        return self.compiled_callable(*args, **kwargs)

    @abc.abstractmethod
    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Returns the result of the user's function, which a subclass defines."""

    def bytecode_hook(self, old_code: types.CodeType, new_code: types.CodeType) -> types.CodeType | None:
        """Adds the code that Dynamo generated to `compiled_codes` if it was generated for this instance. Dynamo calls
        this method for every function that it compiles."""
        if old_code is not self.original_code_object:
            return None
        local = at_work.locals_being_compiled()
        if local is None or local.get("self", self) is self:
            self.compiled_codes.append(new_code)
        return None

    @contextlib.contextmanager
    def dispatch_to_code(self, index: int) -> Iterator[None]:
        """Makes `forward` run `compiled_codes[index]` within a `with` block, and its previous code after the block,
        also if the block raises an exception.

        Raises:
            IndexError: `compiled_codes` has no such index.
        """
        code, function = self.compiled_codes[index], self._function()
        before = function.__code__
        function.__code__ = code
        try:
            yield
        finally:
            function.__code__ = before

    @classmethod
    def _function(cls) -> types.FunctionType:
        function = cls.forward
        if not isinstance(function, types.FunctionType):
            raise TypeError(f"{cls.__name__}.forward is not a Python function")
        return function
