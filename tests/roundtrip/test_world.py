"""Tests of tools/roundtrip/world.py: the class in which its table counts a module, and that its random choice depends
only on the seed."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import roundtrip
import world

ANSWERS = {
    "equal": "x = 1\n",
    "silent": "x = 2\n",
    "marked": "# depyf: not equal: a test\nx = 2\n",
    "no-compile": "x = = 1\n",
    "machine": "# depyf: not equal: shown as a state machine: a test (offset 0)\nx = 2\n",
}


def test_each_module_is_counted_once_and_differences_are_listed(tmp_path: Path) -> None:
    sources = tmp_path / "sources"
    sources.mkdir()
    files = []
    for name, answer in ANSWERS.items():
        files.append(sources / f"{name}.py")
        files[-1].write_text("x = 1\n")
        (sources / f"{name}.py.answer").write_text(answer)
    (sources / "no_python.py").write_text("x = = 1\n")
    worker = roundtrip.Worker(sys.executable)
    modules = world.draw([*files, sources / "no_python.py"], sources, 10, 1, tmp_path, worker)
    counts, differences = world.measure(modules, shlex.split("cat {src}.answer"), sys.executable, worker)
    worker.close()
    assert {
        name: counts[name] for name in ("modules", "equal", "silent", "marked", "no-compile", "state machines")
    } == {
        "modules": 5,
        "equal": 1,
        "silent": 1,
        "marked": 2,
        "no-compile": 1,
        "state machines": 1,
    }
    assert {row["module"] for row in differences} == {f"{name}.py" for name in ANSWERS if name != "equal"}
    assert all(row["objects"] for row in differences if row["verdict"] in ("silent", "marked"))


TWO_FUNCTIONS = (
    "def f():\n    return [x for x in a]\n\n\nclass C:\n    def g(self):\n        return {second}\n\n\nz = {last}\n"
)


def judged(tmp_path: Path, source: str, answer: str) -> dict[str, str]:
    """Returns the verdict of each code object that differs, by its path; the verdict of the module has the empty
    path."""
    (tmp_path / "m.py").write_text(source)
    (tmp_path / "m.py.answer").write_text(answer)
    worker = roundtrip.Worker(sys.executable)
    modules = world.draw([tmp_path / "m.py"], tmp_path, 1, 1, tmp_path, worker)
    _, [difference] = world.measure(modules, shlex.split("cat {src}.answer"), sys.executable, worker)
    worker.close()
    return {"": difference["verdict"], **{path: verdict for path, _, verdict, _ in difference["objects"]}}


def test_a_mark_covers_its_own_definition_alone(tmp_path: Path) -> None:
    source = TWO_FUNCTIONS.format(second="1", last="1")
    mark = "# depyf: not equal: a test\n"
    g = mark + "        return 2"
    g_marked = TWO_FUNCTIONS.format(second="1", last="1").replace("return 1", g)
    assert judged(tmp_path, source, g_marked) == {"": "marked", "<module>/C/g": "marked"}
    both = g_marked.replace("in a", "in b")
    assert judged(tmp_path, source, both)["<module>/f"] == "silent"
    assert judged(tmp_path, source, both)[""] == "silent"
    # A function that is nested in a marked function has a definition of its own, unless it is a lambda or a
    # comprehension.
    f_marked = source.replace("    return [", "    " + mark + "    return [").replace("x in a", "y in a")
    assert set(judged(tmp_path, source, f_marked).values()) == {"marked"}
    assert judged(tmp_path, source, mark + source.replace("z = 1", "z = 2")) == {"": "marked", "<module>": "marked"}
    assert judged(tmp_path, source, mark + source.replace("return 1", "return 2"))[""] == "silent"


def test_what_is_lost_has_the_mark_of_what_is_around_it(tmp_path: Path) -> None:
    source = "def f():\n    def g():\n        return 1\n    return g\n"
    assert judged(tmp_path, source, "def f():\n    return 1\n")["<module>/f/g"] == "silent"
    marked = "def f():\n    # depyf: not equal: a test\n    return 1\n"
    assert judged(tmp_path, source, marked) == {"": "marked", "<module>/f": "marked", "<module>/f/g": "marked"}


def test_what_the_gate_proves_is_not_silent(tmp_path: Path) -> None:
    source = tmp_path / "folded.py"
    # The compiler folds `1 or 2` to 1, and the tuple to one constant.
    source.write_text("def f():\n    return 1 or 2, 3\n")
    worker = roundtrip.Worker(sys.executable)
    modules = world.draw([source], tmp_path, 1, 1, tmp_path, worker)
    counts, differences = world.measure(modules, [world.COMMAND, "{pyc}"], sys.executable, worker)
    worker.close()
    assert (counts["proved"], counts["silent"]) == (1, 0)
    assert [row["verdict"] for row in differences] == ["proved"]


def test_the_draw_depends_on_the_seed_alone() -> None:
    packages = world.drawn_packages(world.CANDIDATES, 1, 110)
    assert packages == world.drawn_packages(world.CANDIDATES, 1, 110)
    assert packages != world.drawn_packages(world.CANDIDATES, 2, 110)
    assert len(set(packages)) == world.PACKAGES >= 100
