"""Tests that the source of a live function has the values that only the function object has, such as its defaults, and
that classes, properties, generators and modules can be decompiled."""

from __future__ import annotations

import importlib
import inspect
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import depyf

MODULES = [
    "argparse",
    "ast",
    "bdb",
    "calendar",
    "cmd",
    "configparser",
    "copy",
    "csv",
    "difflib",
    "fractions",
    "functools",
]
MODULES += ["heapq", "inspect", "ipaddress", "json.decoder", "json.encoder", "logging", "mailbox", "pathlib", "pprint"]
MODULES += [
    "random",
    "shutil",
    "socket",
    "statistics",
    "string",
    "subprocess",
    "textwrap",
    "threading",
    "typing",
    "uuid",
]
SENTINEL = object()


class Marker:
    """Has no literal and no name."""


def execute(text: str, namespace: dict[str, Any]) -> None:
    exec(compile(text, "<shown>", "exec", dont_inherit=True), namespace)


def sample(
    a: int,
    b: list[int] | None = None,
    /,
    c: str = "x",
    *rest: Marker,
    d=SENTINEL,
    e: dict = {"k": (1, 2.5)},  # noqa: B006
) -> set[int]:
    return {a}


def test_defaults_and_annotations_are_those_of_the_function() -> None:
    text = depyf.decompile(sample)
    assert text.startswith("# proved equivalent to the bytecode\n")
    namespace = dict(globals())
    execute(text, namespace)
    assert inspect.signature(namespace["sample"]) == inspect.signature(sample)
    assert namespace["sample"].__kwdefaults__["d"] is SENTINEL


def test_a_value_without_an_expression_has_a_name_that_is_explained() -> None:
    nobody = Marker()

    def hidden(x=nobody, *, y=float("inf")):
        return x, y

    text = depyf.decompile(hidden)
    assert "# __default_x: an object of type" in text
    assert "def hidden(x=__default_x, *, y=float('inf')):" in text
    namespace = {"__default_x": nobody}
    execute(text, namespace)
    assert inspect.signature(namespace["hidden"]) == inspect.signature(hidden)


def functions_of(module: types.ModuleType) -> Iterator[types.FunctionType]:
    for value in vars(module).values():
        holders = vars(value).values() if isinstance(value, type) and value.__module__ == module.__name__ else [value]
        for each in holders:
            function = getattr(each, "__func__", each)
            if isinstance(function, types.FunctionType) and function.__module__ == module.__name__:
                if not hasattr(function, "__wrapped__") and function.__code__.co_filename != "<string>":
                    yield function


def executed(text: str, function: types.FunctionType) -> Callable[..., Any]:
    namespace = dict(function.__globals__)
    execute(text, namespace)
    if "__outer" in namespace:
        return namespace["__outer"]()
    return namespace[function.__code__.co_name if function.__code__.co_name != "<lambda>" else "_lambda_"]


@pytest.mark.parametrize("name", MODULES)
def test_signatures_of_the_standard_library(name: str) -> None:
    module = importlib.import_module(name)
    functions = list(functions_of(module))
    assert functions, name
    wrong = []
    for function in functions:
        text = depyf.decompile(function)
        signature = inspect.signature(function)
        if inspect.signature(executed(text, function)) != signature:
            wrong.append(f"{function.__qualname__}: {signature}\n{text}")
    assert not wrong, "\n".join(wrong)


class Shape:
    """A class with one method of each kind."""

    sides = 4
    table = {"a": [1, None]}

    def __init__(self, width: int = 2) -> None:
        super().__init__()
        self.width = width

    @property
    def area(self) -> int:
        return self.width * self.sides

    @area.setter
    def area(self, value):
        self.width = value // self.sides

    @classmethod
    def of(cls, width):
        """Two
        lines."""
        return cls(width)

    @staticmethod
    def name() -> str:
        return "shape"


def test_a_class_comes_back_as_a_class() -> None:
    text = depyf.decompile(Shape)
    assert text.startswith("# proved equivalent to the bytecode: 5 of 5 functions\n")
    namespace: dict[str, Any] = {"__name__": __name__}
    execute(text, namespace)
    shape = namespace["Shape"].of(3)
    assert (shape.area, shape.name(), shape.sides, shape.table, type(shape).__doc__) == (
        12,
        "shape",
        4,
        {"a": [1, None]},
        Shape.__doc__,
    )
    shape.area = 20
    assert shape.width == 5
    assert namespace["Shape"].of.__func__.__doc__ == Shape.of.__func__.__doc__
    assert inspect.signature(namespace["Shape"].__init__) == inspect.signature(Shape.__init__)


def nested_codes(code: types.CodeType) -> Iterator[types.CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from nested_codes(constant)


def test_a_method_compiles_to_code_with_the_cell_of_its_class() -> None:
    text = depyf.decompile(Shape.__init__)
    assert text.startswith("# proved equivalent to the bytecode\n")
    codes = nested_codes(compile(text, "<shown>", "exec", dont_inherit=True))
    (back,) = [code for code in codes if code.co_name == "__init__"]
    assert back.co_freevars == Shape.__init__.__code__.co_freevars == ("__class__",)


async def coroutine():
    return 1


async def async_generator():
    yield 1


def test_what_stands_for_code_decompiles() -> None:
    generator = functions_of(sys)
    running = coroutine()
    for thing, code in (
        (Shape.__dict__["area"], Shape.area.fget.__code__),
        (Shape.__dict__["of"], Shape.of.__func__.__code__),
        (Shape.__dict__["name"], Shape.name.__code__),
        (generator, functions_of.__code__),
        (running, coroutine.__code__),
        (async_generator(), async_generator.__code__),
    ):
        assert depyf.decompiler.find_code(thing) is code
        assert f"def {code.co_name}(" in depyf.decompile(thing)
    running.close()


def test_a_module_decompiles() -> None:
    import textwrap

    text = depyf.decompile(textwrap)
    assert text.startswith("# proved equivalent to the bytecode\n")
    assert "class TextWrapper:" in text
    with pytest.raises(TypeError, match="cannot decompile the module sys"):
        depyf.decompile(sys)
