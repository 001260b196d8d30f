"""Writes each kind of leaf guard as Python over `L`, `G` and torch.

The Python forms of guards follow the checks in `torch/csrc/dynamo/guards.cpp`. If depyf cannot parse the text of a
guard, the guard has no Python form, and PyTorch's own object for the guard is called instead. A constant that was
parsed from a repr in the text is used only if PyTorch's object accepts the constant, because a repr can be misleading.
All kinds of leaf guards are in one file, beside the table `_FORMS` that maps their names to functions.
"""

from __future__ import annotations

import ast
import builtins
import enum
import functools
import json
import re
import sys
import types
from collections.abc import Callable
from typing import Any

from depyf.compat import guard_reads, guard_words
from depyf.compat.guard_tree import Leaf, Node
from depyf.compat.guard_words import AOT_UTILS, GUARDS, MODE_STACK
from depyf.compat.private import guarded
from depyf.guards import dynamo_words as words
from depyf.guards.plain_python import constant, in_plain, plain, unparsed, value_of

STATE_OF_PROCESS = f"__import__('json').loads({GUARDS}.GlobalStateGuard().__getstate__())"
_STATE_READ_BY = {
    "grad_mode": "torch.is_grad_enabled()",
    "torch_function": guard_words.TORCH_FUNCTION_ENABLED,
    "torch_function_all_disabled": guard_words.TORCH_FUNCTION_ALL_DISABLED,
    "deterministic_algorithms": "torch.are_deterministic_algorithms_enabled()",
    "deterministic_algorithms_warn_only": "torch.is_deterministic_algorithms_warn_only_enabled()",
    "allow_tf32": guard_words.ALLOW_TF32,
    "num_threads": "torch.get_num_threads()",
}
# Maps numbers of c10::ScalarType to dtypes.
_DEFAULT_DTYPES = {5: "torch.float16", 6: "torch.float32", 7: "torch.float64", 15: "torch.bfloat16"}
_TENSOR = re.compile(
    r"check_tensor\((?P<name>.*), (?P<type>[\w.<>]+), DispatchKeySet\((?P<keys>[^()]*)\), (?P<dtype>torch\.\w+), "
    r"device=(?P<device>\w+), requires_grad=(?P<grad>\w+), size=(?P<size>\[[^\]]*\]), stride=(?P<stride>\[[^\]]*\])\)$",
    re.DOTALL,
)
_HOOKS = re.compile(
    r"torch\._functorch\.aot_autograd\.utils\.top_saved_tensors_hooks ids == (?P<ids>None|\([\d, ]+\))$"
)
_ID = re.compile(r"___?check_(?:obj|type)_id\(.*, (\d+)\)|___check_fake_script_type\(.*, (\d+)\)", re.DOTALL)


@guarded()
def conditions(leaf: Leaf, node: Node, x: str | None, members: list[str | None]) -> list[str] | None:
    """Returns the conditions of a leaf guard as Python expressions that must all hold; None if the guard cannot be
    written as Python.

    Args:
        leaf: the guard.
        node: the node whose value the guard checks.
        x: the Python expression for the value that the guard checks; None if the value has no Python expression.
        members: for a relational guard, the Python expressions for all values that the guard relates.
    """
    form = _FORMS.get(leaf.kind)
    if form is None or (x is None and node.step is not None):
        return None
    if leaf.relational:
        if any(member is None for member in members):
            return None
        return _RELATIONS[leaf.kind](leaf, [member for member in members if member is not None])
    return form(leaf, node, x or "L")


def _accepts(leaf: Leaf, value: Any) -> bool:
    try:
        return leaf.check(value)
    except Exception:
        return False


def type_name(kind: type) -> str | None:
    """Returns the public name of a class that is a builtin of Python or is in a public module of torch; None for any
    other class."""
    if getattr(builtins, kind.__qualname__, None) is kind:
        return str(kind.__qualname__)
    if kind is types.NoneType:
        return "type(None)"
    for module in ("torch", kind.__module__):
        if module.partition(".")[0] == "torch" and "._" not in module:
            if getattr(sys.modules.get(module), kind.__qualname__, None) is kind:
                return f"{module}.{kind.__qualname__}"
    return None


def same_type(x: str, kind: type) -> str:
    """Returns the condition that the value of the expression `x` is an instance of exactly the class `kind`."""
    name = type_name(kind)
    return f"type({x}) is {name}" if name is not None else f"id(type({x})) == {id(kind)}"


def _identity(leaf: Leaf) -> int | None:
    # Only the condition is searched for the id, because the user's line, which follows the condition in the text, can
    # contain numbers, too.
    match = _ID.search(words.read(leaf.texts[0]).condition) if len(leaf.texts) == 1 else None
    return int(match[1] or match[2]) if match else None


def _type_match(leaf: Leaf, node: Node, x: str) -> list[str] | None:
    number = _identity(leaf)
    if number is None:
        return None
    if node.type is not None and id(node.type) == number:
        return [same_type(x, node.type)]
    return [f"id(type({x})) == {number}"]


def _id_match(leaf: Leaf, node: Node, x: str) -> list[str] | None:
    number = _identity(leaf)
    return None if number is None else [f"id({x}) == {number}"]


def _equals(leaf: Leaf, node: Node, x: str) -> list[str] | None:
    condition = words.read(leaf.texts[0]).condition if len(leaf.texts) == 1 else ""
    expected = constant(condition)
    if expected is None:
        return _equals_named(leaf, node, x, condition)
    value = value_of(expected)
    # The value that was parsed from the repr must equal the value that the guard compares with, and must have the same
    # type.
    if not _accepts(leaf, value):
        return None
    return [same_type(x, type(value)), f"{x} == {expected}"]


def _equals_named(leaf: Leaf, node: Node, x: str, condition: str) -> list[str] | None:
    """Returns the conditions that a value equals a constant whose repr is not Python: a member of an enumeration, or a
    class. Returns None if the constant is not found."""
    kind = node.type
    known_eq: tuple[object, ...] = (object.__eq__, int.__eq__, str.__eq__)
    if isinstance(kind, enum.EnumMeta) and kind.__eq__ in known_eq:
        member: Any
        for member in kind:
            if condition.endswith(f"== {member!r}") and _accepts(leaf, member):
                return [same_type(x, kind), f"{x}._name_ == {member._name_!r}"]
    match = re.search(r"== <class '([\w.]+)'>$", condition)
    if match is not None and kind is type:
        module, _, name = match[1].rpartition(".")
        value = getattr(sys.modules.get(module or "builtins"), name, None)
        if isinstance(value, type) and _accepts(leaf, value):
            return [f"{x} is {type_name(value)}" if type_name(value) else f"id({x}) == {id(value)}"]
    return None


@functools.lru_cache(maxsize=4096)  # Most tensors have one of a few shapes.
def _numbers(text: str) -> tuple[int | None, ...]:
    return tuple(ast.literal_eval(text))


def _class_of_tensor(node: Node, name: str) -> type | None:
    """Returns the class named `name` that a guard on a tensor requires; None if the class is unknown.

    The guards of a function that was loaded from a file were built with PyTorch's fake tensors in place of real
    tensors, so `node.type` is the class of fake tensors.
    """
    if node.type is None or node.type.__qualname__ == name:
        return node.type
    if (node.type.__module__, node.type.__qualname__) != guard_words.FAKE_TENSOR:
        return None
    torch = sys.modules["torch"]
    return {"Tensor": torch.Tensor, "Parameter": torch.nn.Parameter}.get(name)


def _tensor_match(leaf: Leaf, node: Node, x: str) -> list[str] | None:
    match = _TENSOR.match(words.read(leaf.texts[0]).condition) if len(leaf.texts) == 1 else None
    kind = None if match is None else _class_of_tensor(node, match["type"])
    if match is None or kind is None:
        return None
    size, stride = _numbers(match["size"]), _numbers(match["stride"])
    keys = match["keys"]
    checks = [
        same_type(x, kind),
        f"{x}.dtype == {match['dtype']}",
        f"{x}.device.index {'is' if match['device'] == 'None' else '=='} {match['device']}",
        f"{x}.requires_grad is {match['grad']}",
        f"{guard_words.DISPATCH_KEYS.format(x)} == 'DispatchKeySet({keys})'",
    ]
    if None not in size:
        checks.append(f"{x}.size() == {size}")
    else:
        checks.append(f"{x}.dim() == {len(size)}")
        checks += [f"{x}.size({i}) == {n}" for i, n in enumerate(size) if n is not None]
    if stride and all(n == -1 for n in stride):
        return checks  # A sparse layout is already distinguished by the dispatch keys.
    if None not in stride:
        checks.append(f"{x}.stride() == {stride}")
    else:
        checks += [f"{x}.stride({i}) == {n}" for i, n in enumerate(stride) if n is not None]
    return checks


_MARKED = "_has_dynamo_dim_marking"


class _Marked:
    """A class whose instances have the attribute that PyTorch sets on a tensor with marked dimensions."""


setattr(_Marked, _MARKED, True)


def _marks(leaf: Leaf, node: Node, x: str) -> list[str] | None:
    """Returns the conditions on the marks of a tensor's dimensions (such as those of `mark_dynamic`); None if a
    condition cannot be written as plain Python.

    From PyTorch 2.13 on, a tensor with marks has the attribute `_has_dynamo_dim_marking`. If a tensor had no marks when
    the function was compiled, the guard on its marks only checks that this attribute is missing, although the text of
    the guard has more conditions.
    """
    if not _accepts(leaf, _Marked()):
        return [f"not hasattr({x}, {_MARKED!r})"]
    checks = []
    for text in leaf.texts:
        check = plain(words.read(text).condition, node.source, x)
        if check is None:
            return None
        checks.append(check)
    if all(_accepts(leaf, _with_mark(name)) for name in re.findall(r"_dynamo_\w+_indices", " ".join(leaf.texts))):
        return [f"not hasattr({x}, {_MARKED!r}) or {' and '.join(f'({check})' for check in checks)}"]
    return checks


def _with_mark(name: str) -> Any:
    return type("Marked", (), {name: {1 << 20}})()


def _global_state(leaf: Leaf, node: Node, x: str) -> list[str] | None:
    try:
        state = json.loads(leaf.texts[0].partition(" against ")[2])
    except ValueError:
        return None
    checks = []
    for name, value in state.items():
        if name in _STATE_READ_BY:
            read, expected = _STATE_READ_BY[name], value
            checks.append(f"{read} is {value!r}" if isinstance(value, bool) else f"{read} == {expected!r}")
        elif name == "default_dtype" and value in _DEFAULT_DTYPES:
            checks.append(f"torch.get_default_dtype() == {_DEFAULT_DTYPES[value]}")
        elif name == "autocast_state" and isinstance(value, dict) and {"enabled", "dtype"} <= value.keys():
            # The dtype that autocast uses on a device matters only if autocast is on for this device.
            on = [e and d for e, d in zip(value["enabled"], value["dtype"], strict=True)]
            rest = {k: v for k, v in value.items() if k not in ("enabled", "dtype")}
            checks.append(
                f"[on and dtype for s in [{STATE_OF_PROCESS}['autocast_state']] for on, dtype in zip(s['enabled'], s['dtype'])]"
                f" == {on!r}"
            )
            checks += [f"{STATE_OF_PROCESS}['autocast_state'][{k!r}] == {v!r}" for k, v in rest.items()]
        else:
            checks.append(f"{STATE_OF_PROCESS}[{name!r}] == {value!r}")
    return checks


def _mode_stack(leaf: Leaf, node: Node, x: str) -> list[str] | None:
    # The text of the guard does not name the torch function modes that the guard requires. If no torch function mode is
    # active now and the guard accepts this state, the guard requires that no mode is active.
    if guard_reads.has_no_modes() and _accepts(leaf, {}):
        return [f"{MODE_STACK} == []"]
    return None


def _default_device(leaf: Leaf, node: Node, x: str) -> list[str] | None:
    check = plain(words.read(leaf.texts[0]).condition)
    return None if check is None else [check]


def _lambda(leaf: Leaf, node: Node, x: str) -> list[str] | None:
    if leaf.epilogue:
        return _expressions(leaf)
    condition = words.read(leaf.texts[0]).condition if len(leaf.texts) == 1 else ""
    if match := _HOOKS.match(condition):
        if match["ids"] == "None":
            return [f"not {AOT_UTILS}.saved_tensors_hooks_are_inlineable({AOT_UTILS}.top_saved_tensors_hooks())"]
        return [f"tuple(map(id, {AOT_UTILS}.top_saved_tensors_hooks())) == {match['ids']}"]
    if condition == guard_words.FUNCTORCH_STATE:
        return [condition]
    # All other lambda guards can be recognised only by their text, which any code could produce, so only texts that
    # call a known function are accepted.
    helper = _applied_to(condition, node.source)
    check = None if helper is None else plain(condition, node.source, x)
    if check is None:
        return None
    if helper == "___normalize_count_iter" and node.type is not None:
        return [same_type(x, node.type), check]
    return [check] if helper in ("int", "float", "str", "bytes", "complex", "tuple", "frozenset") else None


@functools.lru_cache(maxsize=4096)
def _applied_to(condition: str, source: str) -> str | None:
    """Returns the name of the function in a condition of the form `function(source) == value`; None for any other
    condition."""
    tree = words.parse(condition)
    if not isinstance(tree, ast.Compare) or not isinstance(tree.left, ast.Call) or len(tree.left.args) != 1:
        return None
    if ast.unparse(tree.left.args[0]) != unparsed(source) or not isinstance(tree.left.func, ast.Name):
        return None
    return tree.left.func.id


def _expressions(leaf: Leaf) -> list[str] | None:
    """Returns the conditions of a guard whose check Dynamo itself compiles from the text of the guard; None if a
    condition cannot be written as plain Python."""
    checks = []
    for text in leaf.texts:
        check = plain(words.read(text).condition)
        if check is None:
            return None
        checks.append(check)
    return checks


def _contains(of: str) -> Callable[[Leaf, Node, str], list[str] | None]:
    def form(leaf: Leaf, node: Node, x: str) -> list[str] | None:
        condition = words.read(leaf.texts[0]).condition if len(leaf.texts) == 1 else ""
        arguments = words.calls(condition)
        if len(arguments) != 2:
            return None
        key = in_plain(arguments[0] if of == "dict" else arguments[1], {})
        if key is None or not _names_key(leaf, of, key, negative=condition.startswith("not ")):
            return None
        kinds = "dict" if of == "dict" else "(set, frozenset)"
        inside = f"{of}.__contains__({x}, {key})" if of == "dict" else f"{key} in {x}"
        if condition.startswith("not "):
            return [f"not (isinstance({x}, {kinds}) and {inside})"]
        return [f"isinstance({x}, {kinds})", inside]

    return form


def _names_key(leaf: Leaf, of: str, key: str, *, negative: bool) -> bool:
    """True if the key in the text of the guard is the key that the guard looks up."""
    value = value_of(key)
    try:
        sample: Any = {value: 0} if of == "dict" else {value}
    except TypeError:
        return False
    return _accepts(leaf, sample) is not negative


def _length(leaf: Leaf, node: Node, x: str, *, prefix: str = "") -> list[str] | None:
    condition = words.read(leaf.texts[0]).condition if len(leaf.texts) == 1 else ""
    expected = words.compared(condition)
    number = 0 if condition.startswith("not ") else expected.value if isinstance(expected, ast.Constant) else None
    return [f"{prefix}len({x}) == {number}"] if isinstance(number, int) else None


def _dict_length(leaf: Leaf, node: Node, x: str) -> list[str] | None:
    checks = _length(leaf, node, x)
    return None if checks is None else [f"isinstance({x}, dict)", checks[0].replace("len(", "dict.__len__(", 1)]


def _words_of(leaf: Leaf, node: Node, x: str) -> list[str] | None:
    """Returns the Python form of a guard whose text is the condition that the guard checks; None if the guard has
    several texts, or if the text cannot be written as plain Python."""
    check = plain(words.read(leaf.texts[0]).condition, node.source, x) if len(leaf.texts) == 1 else None
    return None if check is None else [check]


def _iterator_length(leaf: Leaf, node: Node, x: str) -> list[str] | None:
    expected = words.compared(words.read(leaf.texts[0]).condition)
    if not isinstance(expected, ast.Constant):
        return None
    return [f"type({x}) is type(iter(()))", f"{x}.__length_hint__() == {ast.unparse(expected)}"]


def _range_iterator(leaf: Leaf, node: Node, x: str) -> list[str] | None:
    expected = words.compared(words.read(leaf.texts[0]).condition)
    if expected is None or node.type is None:
        return None
    kind = "iter(range(0))" if node.type is type(iter(range(0))) else None
    same = f"type({x}) is type({kind})" if kind else same_type(x, node.type)
    return [same, f"{guard_words.RANGE_ITERATOR}({x}) == {ast.unparse(expected)}"]


def _mapping_keys(leaf: Leaf, node: Node, x: str) -> list[str] | None:
    keys = constant(words.read(leaf.texts[0]).condition)
    if keys is None or not _accepts(leaf, types.MappingProxyType(dict.fromkeys(value_of(keys)))):
        return None
    return [f"list({x}.keys()) == {keys}"]


def _missing_attribute(leaf: Leaf, node: Node, x: str) -> list[str] | None:
    arguments = words.calls(words.read(leaf.texts[0]).condition)
    if len(arguments) != 2 or not isinstance(arguments[1], ast.Constant):
        return None
    return [f"not hasattr({x}, {arguments[1].value!r})"]


def _dispatch_keys(leaf: Leaf, node: Node, x: str) -> list[str] | None:
    if not guard_reads.is_key_set(node.type):
        return None
    match = re.search(r"== (DispatchKeySet\([^()]*\))\.raw_repr\(\)$", words.read(leaf.texts[0]).condition)
    return None if match is None else [f"type({x}) is {guard_words.KEY_SET}", f"str({x}) == {match[1]!r}"]


def _fake_script(leaf: Leaf, node: Node, x: str) -> list[str] | None:
    number = _identity(leaf)
    if number is None:
        return None
    fake = guard_words.FAKE_SCRIPT_OBJECT
    return [f"id(type({x}.real_obj if type({x}) is {fake} else {x})) == {number}"]


def _dict_version(leaf: Leaf, node: Node, x: str) -> list[str] | None:
    expected = words.compared(words.read(leaf.texts[0]).condition)
    return [f"{GUARDS}.dict_version({x}) == {ast.unparse(expected)}"] if isinstance(expected, ast.Constant) else None


def _dual_level(leaf: Leaf, node: Node, x: str) -> list[str] | None:
    return _expressions(leaf)


_FORMS: dict[str, Callable[[Leaf, Node, str], list[str] | None]] = {
    "TYPE_MATCH": _type_match,
    "ID_MATCH": _id_match,
    "EQUALS_MATCH": _equals,
    "TENSOR_MATCH": _tensor_match,
    "DIMENSION_DYNAMIC_MARKING_GUARD": _marks,
    "GLOBAL_STATE": _global_state,
    "TORCH_FUNCTION_MODE_STACK": _mode_stack,
    "DEFAULT_DEVICE": _default_device,
    "LAMBDA_GUARD": _lambda,
    "DICT_CONTAINS": _contains("dict"),
    "SET_CONTAINS": _contains("set"),
    "DICT_LENGTH": _dict_length,
    "LENGTH_CHECK": _length,
    "DICT_VERSION": _dict_version,
    "MAPPING_KEYS_MATCH": _mapping_keys,
    "TRUE_MATCH": lambda leaf, node, x: [f"{x} is True"],
    "FALSE_MATCH": lambda leaf, node, x: [f"{x} is False"],
    "NONE_MATCH": lambda leaf, node, x: [f"{x} is None"],
    "NOT_NONE": lambda leaf, node, x: [f"{x} is not None"],
    "NO_HASATTR": _missing_attribute,
    "FLOAT_IS_NAN": lambda leaf, node, x: [f"type({x}) is float", f"{x} != {x}"],
    "COMPLEX_IS_NAN": lambda leaf, node, x: [f"type({x}) is complex", f"{x} != {x}"],
    "TUPLE_ITERATOR_LEN": _iterator_length,
    "RANGE_ITERATOR_MATCH": _range_iterator,
    "DISPATCH_KEY_SET_MATCH": _dispatch_keys,
    "DUAL_LEVEL_MATCH": _dual_level,
    "FAKE_SCRIPT_TYPE_MATCH": _fake_script,
    "NO_TENSOR_ALIASING": _words_of,
    "OBJECT_ALIASING": _words_of,
    "STORAGE_OVERLAPPING": _words_of,
    "SYMBOLIC_SHAPE_GUARD": _words_of,
}


def _all_different(leaf: Leaf, members: list[str]) -> list[str]:
    return [f"len({{{', '.join(f'id({member})' for member in members)}}}) == {len(members)}"]


def _all_the_same(leaf: Leaf, members: list[str]) -> list[str]:
    first, *others = dict.fromkeys(members)
    return [f"{first} is {member}" for member in others] or ["True"]


def _overlap(leaf: Leaf, members: list[str]) -> list[str] | None:
    tree = words.parse(words.read(leaf.texts[0]).condition)
    if not isinstance(tree, ast.Call):
        return None
    sides = {keyword.arg: keyword.value for keyword in tree.keywords}
    lists = [sides.get("overlapping"), sides.get("non_overlapping")]
    sides_read: list[list[str]] = []
    for side in lists:
        if not isinstance(side, ast.List):
            return None
        sides_read.append([expression for item in side.elts if (expression := in_plain(item, {})) is not None])
        if len(sides_read[-1]) != len(side.elts):
            return None
    every = ", ".join([*sides_read[0], *sides_read[1]])
    return [f"{GUARDS}.compute_overlapping_tensors([{every}], symbolic=False) == set(range({len(sides_read[0])}))"]


_RELATIONS: dict[str, Callable[[Leaf, list[str]], list[str] | None]] = {
    "NO_TENSOR_ALIASING": _all_different,
    "OBJECT_ALIASING": _all_the_same,
    "STORAGE_OVERLAPPING": _overlap,
    "SYMBOLIC_SHAPE_GUARD": lambda leaf, members: _expressions(leaf),
}


# Long parts of conditions, which a short form replaces in a generated function with many guards. Each row has five
# texts: the long part before and after its argument, the short form before and after the argument, and Python source
# that defines the short form.
SHORTHANDS: list[tuple[str, str, str, str, str]] = [
    (
        *guard_words.DISPATCH_KEYS.split("{}"),
        "dispatch_keys(",
        ")",
        f"def dispatch_keys(x):\n    return {guard_words.DISPATCH_KEYS.format('x')}",
    ),  # type: ignore[list-item]
    (STATE_OF_PROCESS, "", "state()", "", f"def state():\n    return {STATE_OF_PROCESS}"),
    (f"{AOT_UTILS}.", "", "hooks.", "", f"import {AOT_UTILS} as hooks"),
]


def known_types() -> set[str]:
    """Returns the names of the classes of leaf guards that have a Python form."""
    return set(_FORMS)
