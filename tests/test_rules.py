"""Rules of the repository that no compiler checks."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parent.parent
SRC = ROOT / "src"
# A folder includes only itself and folders before it.
ORDER = [
    "support",
    "load",
    "decode",
    "flow",
    "ast",
    "lift",
    "structure",
    "refine",
    "print",
    "prove",
    "compare",
    "stack",
]
# These use the core as any program would: through include/depyf, and the loader.
OUTSIDE = {"cli": {"cli", "load"}, "bind": {"bind", "load"}}
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


def test_a_folder_includes_only_folders_before_it() -> None:
    wrong = []
    for path in sources():
        folder = path.relative_to(SRC).parts[0]
        if path.parent == SRC:  # pipeline.cpp and the like put the stages together
            allowed = set(ORDER)
        else:
            allowed = allowed_folders(folder)
        for include in includes(path):
            top = include.split("/")[0] if "/" in include else folder
            if top != "depyf" and top not in allowed:
                wrong.append(f"{path.relative_to(ROOT)} includes {include}")
    assert not wrong, "\n".join(wrong)


def test_every_include_with_quotes_is_a_file_of_the_repository() -> None:
    wrong = [
        f"{path.relative_to(ROOT)} includes {include}"
        for path in sources()
        for include in includes(path)
        if not any((folder / include).is_file() for folder in (path.parent, SRC, ROOT / "include"))
    ]
    assert not wrong, "\n".join(wrong)


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
    # cmake/tests.cmake takes all of tests/core, and nothing else has C++ tests.
    assert not [path for path in (ROOT / "tests").rglob("*_test.cpp") if path.parent.name != "core"]
