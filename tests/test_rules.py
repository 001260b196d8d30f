"""Rules of the repository that no compiler checks."""

from __future__ import annotations

import ast
import builtins
import collections
import contextlib
import dis
import functools
import inspect
import io
import json
import keyword
import linecache
import logging
import math
import os
import re
import subprocess
import sys
import textwrap
import threading
import time
import types
import weakref
from pathlib import Path
from typing import Any

import layers

ROOT = Path(__file__).parent.parent

SRC = ROOT / "src"
# Files in a folder of src may include only files of the same folder and of folders before it in this list.
ORDER = [
    "support",
    "dialect",
    "json",
    "load",
    "pickle",
    "decode",
    "recode",
    "flow",
    "ast",
    "lift",
    "structure",
    "refine",
    "print",
    "validate",
    "lower",
    "prove",
    "gate",
    "compare",
    "stack",
    "graph_text",
    "record",
    "links",
    "trace",
    "dumps",
    "costs",
    "texts",
    "conditions",
    "diff",
    "contract",
    "findings",
    "page",
    "artifact",
]
# Folders that use the core like other programs, through include/depyf, with the folders of src that they may include.
OUTSIDE = {
    "cli": {"cli", "load", "support"},
    "bind": {"bind", "cli", "report", "json", "load", "dialect"},  # the extension module also contains the commands
    "report": {"report"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def includes(path: Path) -> list[str]:
    return INCLUDE.findall(path.read_text(encoding="utf-8"))


def sources() -> list[Path]:
    found = sorted(path for path in SRC.rglob("*") if path.suffix in {".h", ".cpp", ".def", ".inc"})
    assert len(found) > 30
    return found


def tracked_files() -> list[Path]:
    done = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    found = [ROOT / line for line in done.stdout.splitlines() if (ROOT / line).is_file()]
    assert len(found) > 50
    return found


def allowed_folders(folder: str) -> set[str]:
    return OUTSIDE[folder] if folder in OUTSIDE else set(ORDER[: ORDER.index(folder) + 1])


VERSION_LITERAL = re.compile(r"\bVersion\s*\{\s*3\s*,|\.minor\s*(?:[<>]=?|==|!=)\s*\d")


def test_versions_are_told_apart_by_facts_of_their_dialect() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sources()
        if path.relative_to(SRC).parts[0] not in {"dialect", "load", "decode"}
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if VERSION_LITERAL.search(line)
    ]
    assert not wrong


def test_a_folder_includes_only_folders_before_it() -> None:
    wrong = []
    for path in sources():
        folder = path.relative_to(SRC).parts[0]
        if path.parent == SRC:  # files directly in src, such as pipeline.cpp, combine the stages
            allowed = set(ORDER)
        else:
            allowed = allowed_folders(folder)
        for include in includes(path):
            top = include.split("/")[0] if "/" in include else folder
            if top != "depyf" and top not in allowed:
                wrong.append(f"{path.relative_to(ROOT)} includes {include}")
    assert not wrong, "\n".join(wrong)


# Maps a file that the build generates to the file that generates it.
MADE = {"decode/op_names.def": ROOT / "cmake" / "op_names.cmake"}


def test_every_include_with_quotes_is_a_file_of_the_repository() -> None:
    wrong = [
        f"{path.relative_to(ROOT)} includes {include}"
        for path in sources()
        for include in includes(path)
        if not any((folder / include).is_file() for folder in (path.parent, SRC, ROOT / "include"))
        and not (include in MADE and include in MADE[include].read_text())
    ]
    assert not wrong, "\n".join(wrong)


def types_of(text: str) -> list[str]:
    """Returns the full names of the types that a C++ source defines in named namespaces, outside of functions and
    types."""
    names, spaces, depth = [], [], 0
    for line in re.sub(r"//.*|'\\?.'|\"(\\\\.|[^\"\\])*\"", "", text).splitlines():
        if opened := re.match(r"\s*namespace\s*([\w:]*)\s*\{", line):
            spaces.append((depth, opened[1]))
        elif defined := re.match(r"\s*(?:struct|enum class|enum|class)\s+(\w+)\b(?!::)[^;=()]*(\{|$)", line):
            if spaces and depth == spaces[-1][0] + 1 and all(name for _, name in spaces):
                names.append("::".join([*(name for _, name in spaces), defined[1]]))
        depth += line.count("{") - line.count("}")
        while spaces and depth <= spaces[-1][0]:
            spaces.pop()
    return names


def test_no_name_of_a_type_has_two_definitions() -> None:
    # The linker keeps one destructor, one std::vector<T>::push_back and so on for a type name, and would use it for
    # both types of this name.
    places = collections.defaultdict(set)
    for path in [*sources(), *(ROOT / "include").rglob("*.h")]:
        for name in types_of(path.read_text(encoding="utf-8")):
            places[name].add(path.name)
    assert len(places) > 300
    assert {name: files for name, files in places.items() if len(files) > 1} == {}


def test_types_are_seen() -> None:
    text = "namespace a::b {\nstruct One {\n  struct Inner {};\n};\nenum class Two : int { x };\nstruct Three;\n"
    text += "namespace {\nclass Hidden {};\n}\nstruct One::Later {\n};\n}\n"
    assert types_of(text) == ["a::b::One", "a::b::Two"]


def test_public_headers_include_only_public_headers() -> None:
    headers = sorted((ROOT / "include").rglob("*.h"))
    assert headers
    assert not [path for path in headers for include in includes(path) if not include.startswith("depyf/")]


def test_no_path_of_one_machine_and_no_host_of_a_registry() -> None:
    machine = re.compile("/" + "(?:root|work|home/\\w+|opt|tmp/py\\d+)/")
    registry = re.compile(r"\b(?:pypi|debian|download\.pytorch|python[h]osted)\.org\b")
    wrong = []
    for path in tracked_files():
        text = path.read_bytes().decode("utf-8", "replace")
        for number, line in enumerate(text.splitlines(), 1):
            if machine.search(line) or registry.search(line):
                wrong.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}")
    assert not wrong, "\n".join(wrong)


def test_every_cpp_test_file_is_compiled_and_has_tests() -> None:
    files = sorted((ROOT / "tests" / "core").glob("*_test.cpp"))
    assert files
    assert not [path.name for path in files if "TEST_CASE" not in path.read_text(encoding="utf-8")]
    # cmake/tests.cmake builds all C++ files of tests/core, so no other folder may have C++ tests.
    assert not [path for path in (ROOT / "tests").rglob("*_test.cpp") if path.parent.name != "core"]


COMPAT = ROOT / "python" / "depyf" / "compat"
EVENTS = ROOT / "python" / "depyf" / "capture" / "trace_records.py"
# MACHINERY are the modules of depyf.compat that handle private names as data, and use none.
PRINTING_AND_GUARDS = [path for name in ("printing", "guards") for path in (COMPAT.parent / name).glob("*.py")]
MACHINERY = {"__init__.py", "names.py", "private.py", "probe.py", "releases.py", "shape.py"}
# Names in PyTorch's documentation, which need no row in depyf.compat.names.
PUBLIC_TORCH = {
    "GraphModule",
    "compiler",
    "distributed",
    "forward",
    "fx",
    "graph",
    "grad_fn",
    "metadata",
    "named_children",
}
PUBLIC_TORCH |= {
    "next_functions",
    "nodes",
    "op",
    "saved_tensors",
    "target",
    "get_rank",
    "get_world_size",
    "is_available",
}
PUBLIC_TORCH |= {"SymInt", "element_size", "graph_copy", "untyped_storage"}
PUBLIC_TORCH |= {"get_objects"}  # a function of Python's module gc
PUBLIC_TORCH |= {"dtype", "device", "stride", "Tensor"}
PUBLIC_TORCH |= {"all_input_nodes", "is_initialized", "kwargs", "DEFAULT", "SKIP", "nn", "Module", "children"}


def python_names() -> set[str]:
    """Returns the names of attributes of Python's own modules and types."""
    modules = [
        ast,
        builtins,
        collections,
        contextlib,
        dis,
        functools,
        inspect,
        json,
        keyword,
        logging,
        os,
        os.path,
        re,
        sys,
        weakref,
    ]
    modules += [io, linecache, math, time, textwrap, threading, types]
    found: set[str] = {"EnumMeta"}
    for module in modules:
        found |= {name for name in dir(module) if not name.startswith("_")}
        for value in vars(module).values():
            if isinstance(value, type):
                found |= set(dir(value)) | set(getattr(value, "_fields", ()))
    found |= {*dir(logging.root), *dir(logging.root.manager), *dir(logging.makeLogRecord({}))}
    found |= {
        "__missing__",
        "_name_",
        "__file__",
        "__version__",
        "_getframe",
        "_current_frames",
    }  # names with an underscore that are documented
    return found


def own_names() -> set[str]:
    """Returns the names that depyf itself defines: functions, classes, and the attributes of its own objects."""
    found = set()
    for path in [*(ROOT / "python" / "depyf").rglob("*.py"), ROOT / "python" / "depyf" / "_core.pyi"]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                found.add(node.name)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                found.add(node.target.id)
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
                found.add(node.attr)
    return found


def unregistered(source: str, rows: list[Any], known: set[str]) -> list[str]:
    """Returns the names of PyTorch and CPython that a module uses without a row in depyf.compat.names."""
    tree = ast.parse(source)
    paths = {row.path for row in rows}
    lasts = {re.sub(r".*\[(\w+)\]$", r"\1", row.last) for row in rows}
    constants = {
        node.targets[0].id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
    }

    def text(node: ast.expr) -> str:
        if isinstance(node, ast.JoinedStr):
            return "".join(text(one) for one in node.values)
        if isinstance(node, ast.FormattedValue):
            return str(constants.get(node.value.id, "{}")) if isinstance(node.value, ast.Name) else "{}"
        return str(node.value) if isinstance(node, ast.Constant) else "{}"

    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.startswith("torch.")]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("torch"):
            public = node.module in ("torch.fx", "torch.compiler")
            found += [f"{node.module}:{alias.name}" for alias in node.names if not public or alias.name.startswith("_")]
        elif isinstance(node, ast.Attribute) and node.attr not in known | lasts:
            found.append(node.attr)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("getattr", "hasattr"):
            name = text(node.args[1])
            if "{}" not in name and name not in known | lasts:
                found.append(name)
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
        ):
            if node.func.value.id == "private" and node.func.attr in ("get", "call", "of", "module_of"):
                path = text(node.args[1 if node.func.attr == "of" else 0]) if node.args else ""
                if ":" in path and "{}" not in path and path not in paths:
                    found.append(path)
    return found


def test_private_names_have_a_row() -> None:
    from depyf.compat.names import FEATURES, NAMES

    paths = [name.path for name in NAMES]
    assert len(paths) == len(set(paths))
    assert {name.feature for name in NAMES} <= {feature.key for feature in FEATURES}
    known = python_names() | own_names() | PUBLIC_TORCH
    wrong = []
    for path in sorted([*COMPAT.glob("*.py"), *(COMPAT.parent / "printing").glob("*.py")]):
        if path.name not in MACHINERY:
            wrong += [f"{path.name}: {one}" for one in unregistered(path.read_text(encoding="utf-8"), NAMES, known)]
    assert not wrong, "\n".join(wrong)


def test_names_without_a_row_are_seen() -> None:
    from depyf.compat.names import NAMES

    known = python_names() | PUBLIC_TORCH
    uses = {
        "import torch._dynamo.new_place": "torch._dynamo.new_place",
        "from torch._dynamo import eval_frame": "torch._dynamo:eval_frame",
        "def f(entry):\n    return entry.new_field": "new_field",
        "def f(entry):\n    return getattr(entry, '_new_field', None)": "_new_field",
        "private.get('torch._dynamo.eval_frame:_new_function')": "torch._dynamo.eval_frame:_new_function",
        "_C = 'torch._C'\nprivate.call(f'{_C}:_new_function')": "torch._C:_new_function",
    }
    for source, name in uses.items():
        assert name in unregistered(source, NAMES, known), source
        # A name with a row passes.
    assert not unregistered(
        "private.get('torch._guards:CompileContext')\ndef f(e):\n    return e.guard_manager", NAMES, known | {"get"}
    )


def test_each_row_is_of_a_name_in_use() -> None:
    from depyf.compat.names import NAMES

    used = "\n".join(path.read_text(encoding="utf-8") for path in COMPAT.glob("*.py") if path.name not in MACHINERY)
    used += "\n".join(path.read_text(encoding="utf-8") for path in (SRC / "bind").iterdir() if path.is_file())
    used += "\n".join(path.read_text(encoding="utf-8") for path in (*PRINTING_AND_GUARDS, EVENTS))
    lasts = {name.path: re.sub(r".*\[(\w+)\]$", r"\1", name.last.rpartition(".")[2] or name.last) for name in NAMES}
    assert not [path for path, last in lasts.items() if last not in used]


PACKAGE = ROOT / "python" / "depyf"


def test_python_imports_go_down_the_table_of_layers() -> None:
    imports = layers.imports(PACKAGE)
    assert len(imports) > 500
    assert not layers.upward(imports, layers.rows((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")))


def test_no_python_module_imports_itself_over_others() -> None:
    assert not layers.circles(layers.imports(PACKAGE))


def test_no_function_imports_a_module_of_depyf() -> None:
    assert not layers.in_functions(layers.imports(PACKAGE))


def test_the_table_of_layers_names_what_there_is() -> None:
    units = {layers.unit(module) for module in layers.modules(PACKAGE)}
    assert set(layers.rows((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"))) == units


def test_wrong_imports_are_seen(tmp_path: Path) -> None:
    package = tmp_path / "depyf"
    (package / "high").mkdir(parents=True)
    files = {
        "__init__.py": "",
        "low.py": "from depyf.high import tower\n",
        "middle.py": "import depyf.low\ndef f():\n    from depyf import low\n    import json\n",
        "high/__init__.py": "from depyf import middle\n",
        "high/tower.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import depyf.high.spire\n",
        "high/spire.py": "from depyf.high import tower\nfrom importlib import import_module\nimport_module('depyf.top')\n",
        "top.py": "",
    }
    for name, text in files.items():
        (package / name).write_text(text, encoding="utf-8")
    imports = layers.imports(package)
    row_of = {"__init__": 0, "low": 0, "middle": 1, "high": 2}
    assert layers.upward(imports, row_of) == [
        "top is not in the table of layers",
        "depyf.low, line 1: depyf.high.tower, at load, which is a layer above it",
    ]
    row_of["top"] = 3
    assert [each.split(":")[0] for each in layers.upward(imports, row_of)] == [
        "depyf.high.spire, line 3",
        "depyf.low, line 1",
    ]
    assert layers.in_functions(imports) == ["depyf.middle, line 3: depyf.low, in a function"]
    assert layers.circles(imports) == []  # tower and spire import each other only under TYPE_CHECKING
    (package / "high" / "tower.py").write_text("from depyf import middle\n", encoding="utf-8")
    assert layers.circles(layers.imports(package)) == [["depyf.high.tower", "depyf.low", "depyf.middle"]]


STATELESS = ("attrgetter(", "reprlib.Repr(", "logging.getLogger(")
"""Calls whose results have no state, so that variables in lower case may have them as values."""


def module_variables(tree: ast.Module) -> list[tuple[str, str]]:
    """Returns (name, docstring) of each variable of a module that can change: variables in lower case, and variables
    that a function rebinds."""
    rebound = {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}
    found = []
    for node, after in zip(tree.body, [*tree.body[1:], ast.Pass()], strict=True):
        if isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names = [node.target.id]
        else:
            continue
        is_text = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
        text = str(after.value.value) if is_text else ""
        stateless = node.value is not None and ast.unparse(node.value).startswith(STATELESS)
        found += [
            (name, text)
            for name in names
            if name in rebound or (name.strip("_")[0].islower() and not name.startswith("__") and not stateless)
        ]
    return found


def test_each_variable_of_a_module_states_its_lock_its_fork_rule_and_who_clears_it() -> None:
    wrong, count = [], 0
    for path in sorted(PACKAGE.rglob("*.py")):
        for name, text in module_variables(ast.parse(path.read_text(encoding="utf-8"))):
            count += 1
            missing = [word for word in ("lock", "fork", "clear") if word not in text.lower()]
            if missing:
                wrong.append(f"{path.relative_to(PACKAGE)} {name}: no word on {', '.join(missing)}")
    assert count > 30
    assert not wrong, "\n".join(wrong)


def test_variables_of_modules_are_seen() -> None:
    source = 'TABLE = {}\n_state = {}\n"""Its lock."""\nLATER = None\nlog = logging.getLogger("a")\ndef f():\n    global LATER\n'
    assert module_variables(ast.parse(source)) == [("_state", "Its lock."), ("LATER", "")]


def test_each_cache_of_a_module_is_bounded_or_of_few_keys() -> None:
    """`functools.cache` without a bound is only for functions with few possible arguments in a process."""
    allowed = {"library", "of", "_expected", "_way", "_prints_samples", "_indents_blank_lines", "_hints", "_same"}
    unbounded = {
        node.name
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
        for decorator in node.decorator_list
        if re.fullmatch(r"(functools\.)?(cache|lru_cache(\(maxsize=None\)|\(\))?)", ast.unparse(decorator))
    }
    assert unbounded <= allowed
