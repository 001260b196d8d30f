"""Compiles source back to a code object that can replace another code object."""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Iterable, Mapping
from typing import Any

from depyf import _core, names, tree_names

__all__ = ["compile_back", "compile_like", "find_function", "signature"]

# The names of the two nested functions in which the source is compiled; they do not occur in the resulting code.
_OUTER = "__depyf_outer"
_INNER = "__depyf_inner"


def compile_like(source: str, code: types.CodeType) -> types.CodeType:
    """Compiles source so that the result can replace `code`: in `fn.__code__ = result`, or in Dynamo's cache.

    The result has the arguments (names and kinds), free variables, cell variables (names and order), flags and name of
    `code`. The result has at least as many locals as `code`, even if the source does not use all variables of `code`.
    If the source has a name that `decompile` shows without its uuid, the result has the full name; each `__const_N`
    becomes the constant of `code` for which it stands. Tracebacks show `<depyf NAME>` as the file.

    Args:
        source: one function as `decompile` writes it, with or without the function around it that binds its free
            variables; or the source of a module, if `code` is that of a module.
        code: the code object that the result replaces.

    Raises:
        SyntaxError: the source is not Python; the error contains the position in the source.
        ValueError: the source cannot replace `code`; the message states the difference.
        TypeError: `code` is not a code object.

    Example:

        source = depyf.decompile(function)
        function.__code__ = depyf.compile_like(source, function.__code__)
    """
    return compile_checked(source, code, constants_of=code)


def compile_back(source: str, code: types.CodeType, *, filename: str | None = None) -> types.CodeType:
    """Does the same as `compile_like`, and also accepts bodies of classes, whose code cannot replace other code."""
    if not _is_class_body(code):
        return compile_checked(source, code, constants_of=code, filename=filename)
    tree = tree_names.restore_attributes(ast.parse(source), names.nested_codes(code))
    return _compile_class(tree, code, filename or f"<depyf {code.co_name}>")


def compile_checked(
    source: str, code: types.CodeType, *, constants_of: types.CodeType, filename: str | None = None
) -> types.CodeType:
    """Does the same as `compile_like`, but takes names with a uuid, and constants, from `constants_of` instead of
    `code`."""
    if not isinstance(code, types.CodeType):
        raise TypeError(f"expected a code object, got {type(code).__name__}")
    if filename is None:
        filename = f"<depyf {code.co_name}>"
    tree = tree_names.restore_attributes(ast.parse(source, filename), names.nested_codes(constants_of))
    if not code.co_flags & inspect.CO_NEWLOCALS:
        if _is_class_body(code):
            raise ValueError(f"{code.co_name} is the body of a class: only functions and modules can be replaced")
        result = compile(tree, filename, "exec", flags=_future_flags(code), dont_inherit=True)
        if result.co_flags != code.co_flags:
            raise ValueError(f"{code.co_name}: the flags differ: {result.co_flags:#x} instead of {code.co_flags:#x}")
        return _core.module_for(result, code, constants_of)
    return _compile_function(tree, code, filename, constants_of)


def _is_class_body(code: types.CodeType) -> bool:
    return not code.co_flags & (inspect.CO_NEWLOCALS | inspect.CO_OPTIMIZED) and code.co_name != "<module>"


def _future_flags(code: types.CodeType) -> int:
    """Returns the compiler flags of the `from __future__` imports with which `code` was compiled."""
    import __future__

    flags = [getattr(__future__, name).compiler_flag for name in __future__.all_feature_names]
    return sum(flag for flag in flags if flag > 0x1000 and code.co_flags & flag)


def _compile_function(
    tree: ast.Module, code: types.CodeType, filename: str, constants_of: types.CodeType
) -> types.CodeType:
    function = find_function(tree, code)
    written_name = function.name
    function.name = _INNER
    function.decorator_list = []
    function.returns = None
    arguments = function.args
    # Defaults are removed, because they belong to the function object and not to its code.
    arguments.defaults, arguments.kw_defaults = [], [None] * len(arguments.kwonlyargs)
    for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]:
        if argument is not None:
            argument.annotation = None
    if hasattr(function, "type_params"):  # 3.12 and later
        function.type_params = []
    _check_arguments(function, code)
    sorted_names = _core.names_that_sort(code)
    hidden = _hidden_arguments(function, code)
    keep: tuple[str, ...] = ()
    while True:
        result = _core.function_for(
            _compile_within(function, code, filename, keep, sorted_names),
            code,
            constants_of=constants_of,
            sorted=sorted_names,
            hidden=hidden,
            prefix=f"{_OUTER}.<locals>.{_INNER}",
            written_name=written_name,
            kept=bool(keep),
        )
        if isinstance(result, types.CodeType):
            return result
        keep = tuple(result)


def _compile_class(tree: ast.Module, code: types.CodeType, filename: str) -> types.CodeType:
    """Returns the code of the only class in the source, compiled in a function that binds its free variables."""
    definitions = [node for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))]
    if len(definitions) == 1 and isinstance(definitions[0], ast.FunctionDef):
        definitions = [node for node in definitions[0].body if isinstance(node, ast.ClassDef)]
    if len(definitions) != 1:
        raise ValueError(f"{code.co_name}: expected one class in the source, found {len(definitions)}")
    body: list[ast.stmt] = [definitions[0]]
    if code.co_freevars:
        body.insert(0, _bound(code.co_freevars))
    name = definitions[0].name
    if name not in code.co_freevars and name in _core.global_names(code):
        # Code within the class refers to the class as a global, so the name is declared global.
        body.insert(0, ast.Global([name], **_AT_THE_START))
        prefix = name
    else:
        prefix = f"{_OUTER}.<locals>.{name}"
    compiled = compile(_within_outer(body), filename, "exec", flags=_future_flags(code), dont_inherit=True)
    return _core.class_for(_nested(_nested(compiled, _OUTER), name), code, prefix)


_AT_THE_START: dict[str, Any] = {"lineno": 1, "end_lineno": 1, "col_offset": 0, "end_col_offset": 0}
"""The source position of generated syntax nodes. `ast.fix_missing_locations` would set a position, too, but walks the
whole tree."""


def _within_outer(body: list[ast.stmt]) -> ast.Module:
    """Returns a module that contains one function without arguments, whose body is `body`."""
    no_arguments = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    outer = ast.FunctionDef(name=_OUTER, args=no_arguments, body=body, decorator_list=[], **_AT_THE_START)
    if "type_params" in ast.FunctionDef._fields:  # 3.12 and later
        outer.type_params = []  # type: ignore[attr-defined]
    return ast.Module([outer], [])


def _bound(variables: Iterable[str]) -> ast.stmt:
    """Returns an assignment that makes the given names local variables of the surrounding function."""
    return _assigned(variables, _AT_THE_START)


def _assigned(variables: Iterable[str], place: Mapping[str, Any]) -> ast.stmt:
    """Returns an assignment of None to the variables."""
    targets: list[ast.expr] = [ast.Name(name, ast.Store(), **place) for name in variables]
    return ast.Assign(targets, ast.Constant(None, **place), **place)


def find_function(tree: ast.Module, code: types.CodeType) -> ast.FunctionDef | ast.AsyncFunctionDef:
    """Returns the definition that replaces `code`: the only function at the top level, or the function nested in it if
    the outer function only binds free variables."""
    tops = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    if len(tops) != 1:
        raise ValueError(f"{code.co_name}: expected one function in the source, found {len(tops)}")
    top = tops[0]
    inner: list[ast.FunctionDef | ast.AsyncFunctionDef] = [
        node for node in top.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    if len(inner) != 1:
        return top
    bound: set[str] = set()
    for node in top.body:
        if isinstance(node, ast.Assign) and all(isinstance(target, ast.Name) for target in node.targets):
            bound.update(target.id for target in node.targets if isinstance(target, ast.Name))
        elif node is not inner[0] and not isinstance(node, (ast.Return, ast.Pass)):
            return top
    only_binds = bound <= set(code.co_freevars)
    if (
        only_binds
        and not _argument_names(top.args)
        and (bound or _argument_names(inner[0].args) == _code_arguments(code))
    ):
        # If neither `code` nor the outer function has arguments, `code` can also be the code of the outer function
        # itself.
        makes_inner = any(type(const) is types.CodeType and const.co_name == inner[0].name for const in code.co_consts)
        if bound or not makes_inner:
            return inner[0]
    return top


def _argument_names(arguments: ast.arguments) -> list[str]:
    """Returns the names of the arguments, in the order of `co_varnames`."""
    parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    parameters += [parameter for parameter in (arguments.vararg, arguments.kwarg) if parameter is not None]
    return [parameter.arg for parameter in parameters]


def _code_arguments(code: types.CodeType) -> list[str]:
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return list(code.co_varnames[:count])


def _check_arguments(function: ast.FunctionDef | ast.AsyncFunctionDef, code: types.CodeType) -> None:
    arguments = function.args
    positional = len(arguments.posonlyargs) + len(arguments.args)
    written_counts = (len(arguments.posonlyargs), positional, len(arguments.kwonlyargs))
    wanted = (code.co_posonlyargcount, code.co_argcount, code.co_kwonlyargcount)
    starred = (arguments.vararg is not None, arguments.kwarg is not None)
    flags = (bool(code.co_flags & inspect.CO_VARARGS), bool(code.co_flags & inspect.CO_VARKEYWORDS))
    written, expected = _argument_names(arguments), _code_arguments(code)
    same_names = len(written) == len(expected) and all(
        first == second or not second.isidentifier() for first, second in zip(written, expected)
    )
    if written_counts != wanted or starred != flags or not same_names:
        raise ValueError(
            f"{code.co_name}: the arguments differ: ({ast.unparse(arguments)}) instead of {signature(code)}"
        )


def signature(code: types.CodeType) -> str:
    """Returns the arguments of a code object as a `def` writes them, such as `(a, /, b, *, c)`."""
    args = _code_arguments(code)
    parts = args[: code.co_argcount]
    if code.co_posonlyargcount:
        parts.insert(code.co_posonlyargcount, "/")
    rest = args[code.co_argcount + code.co_kwonlyargcount :]
    if code.co_flags & inspect.CO_VARARGS:
        parts.append("*" + rest.pop(0))
    elif code.co_kwonlyargcount:
        parts.append("*")
    parts += args[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    if code.co_flags & inspect.CO_VARKEYWORDS:
        parts.append("**" + rest.pop(0))
    return f"({', '.join(parts)})"


def _hidden_arguments(function: ast.FunctionDef | ast.AsyncFunctionDef, code: types.CodeType) -> dict[str, str]:
    """Maps the name in the source to the name in `code` for arguments whose names are no identifiers (`.0` of a
    comprehension)."""
    pairs = zip(_argument_names(function.args), _code_arguments(code))
    return {written: hidden for written, hidden in pairs if not hidden.isidentifier()}


def _compile_within(
    function: ast.FunctionDef | ast.AsyncFunctionDef,
    code: types.CodeType,
    filename: str,
    keep: tuple[str, ...],
    sorted_names: Mapping[str, str],
) -> types.CodeType:
    """Compiles `function` within an outer function that binds the free variables of `code`. Free and cell variables are
    renamed by `sorted_names`, so that the compiler, which sorts variables by name, puts them into the order of `code`.

    The names in `keep` become local, cell or free variables as in `code` even if the function does not use the names.
    An `if 0:` block mentions the names in `keep`: the block has an effect on the compiler's symbol table, but compiles
    to no instructions.
    """
    body = list(function.body)
    if keep:
        local = [name for name in keep if name not in code.co_freevars]
        cells = [name for name in local if name in code.co_cellvars]
        arguments = set(_argument_names(function.args))
        place = {name: getattr(function, name) for name in _AT_THE_START}
        unreached: list[ast.stmt] = [
            ast.Expr(ast.Name(name, ast.Load(), **place), **place) for name in keep if name in code.co_freevars
        ]
        stored = [name for name in local if name not in arguments]
        if stored:
            unreached.append(_assigned(stored, place))
        if cells:
            loads: list[ast.expr] = [ast.Name(name, ast.Load(), **place) for name in cells]
            no_arguments = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
            held = ast.Lambda(no_arguments, ast.Tuple(loads, ast.Load(), **place), **place)
            unreached.append(ast.Expr(held, **place))
        # The `if 0:` block is at the end, because a `nonlocal` in the body has to precede any use of its name.
        body.append(ast.If(ast.Constant(0, **place), unreached, [], **place))
    inner = type(function)(
        **{**{name: getattr(function, name) for name in function._fields if hasattr(function, name)}, "body": body}
    )
    ast.copy_location(inner, function)
    outer_body: list[ast.stmt] = []
    if code.co_freevars:
        outer_body.append(_bound(code.co_freevars))
    outer_body.append(inner)
    module = _within_outer(outer_body)
    if sorted_names:
        module = tree_names.renamed(module, sorted_names)
    compiled = compile(module, filename, "exec", flags=_future_flags(code), dont_inherit=True)
    return _nested(_nested(compiled, _OUTER), _INNER)


def _nested(code: types.CodeType, name: str) -> types.CodeType:
    return next(const for const in code.co_consts if type(const) is types.CodeType and const.co_name == name)
