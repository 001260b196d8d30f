"""Tests that the tool which runs the blocks of the documents notices each way in which a page can be wrong."""

from __future__ import annotations

from pathlib import Path

import page_compare
import pytest
from page_blocks import PageError, blocks_of
from page_shell import SHOWN_HOME
from run_pages import run_page


def page(folder: Path, text: str) -> Path:
    path = folder / "example.md"
    path.write_text(text, encoding="utf-8")
    return path


RIGHT = """\
Save it:

```python title="hello.py"
print("hello", 3)
```

```console
$ python hello.py
hello 3
$ python hello.py > hello.txt
$ pwd
~/example
```

<!-- shown: hello.txt -->
```text
hello 3
```
"""


def test_a_page_that_shows_what_its_run_makes_has_no_difference(tmp_path: Path) -> None:
    assert SHOWN_HOME == "~"
    assert run_page(page(tmp_path, RIGHT)) == []


@pytest.mark.parametrize(
    "old, new",
    [
        ("hello 3\n$", "hello 4\n$"),
        ("hello 3\n$", "$"),
        ("~/example", "~/x"),
        ("```text\nhello 3", "```text\nhello"),
        ('print("hello", 3)', 'print("hello", 2)'),
    ],
)
def test_a_wrong_output_is_a_difference_and_is_renewed(tmp_path: Path, old: str, new: str) -> None:
    assert old in RIGHT
    path = page(tmp_path, RIGHT.replace(old, new, 1))
    assert run_page(path)
    assert run_page(path, renew=True)
    assert run_page(path) == []
    if "print" not in old:
        assert path.read_text(encoding="utf-8") == RIGHT


@pytest.mark.parametrize(
    "text, problem",
    [
        ("```python\nprint(1)\n```\n", "no test runs this block"),
        ("```\ndepyf run\n```\n", "no test runs this block"),
        ("<!-- show: a -->\n```text\n1\n```\n", "no comment that says"),
        ("```console\n$ echo 1\n", "not closed"),
        ("Text.\n\n    depyf run\n", "indented block"),
        ("```python file=a.py\n```\n", "not known"),
        ("<!-- shown: -->\n```text\n1\n```\n", "shown: FILE"),
    ],
)
def test_a_block_that_cannot_be_run_is_an_error(text: str, problem: str) -> None:
    with pytest.raises(PageError, match=problem):
        blocks_of(text)


def test_output_before_the_first_command_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PageError, match="begins with"):
        run_page(page(tmp_path, "```console\nhello\n```\n"))


def test_a_command_goes_on_behind_a_backslash(tmp_path: Path) -> None:
    assert run_page(page(tmp_path, "```console\n$ echo a \\\n>   b\na b\n```\n")) == []


def test_a_command_that_fails_is_an_error_unless_the_page_shows_its_status(tmp_path: Path) -> None:
    with pytest.raises(PageError, match="exit status 3"):
        run_page(page(tmp_path, "```console\n$ (exit 3)\n```\n"))
    assert run_page(page(tmp_path, "```console\n$ (exit 3)\n$ echo $?\n3\n```\n")) == []


def test_a_file_that_no_command_wrote_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PageError, match=r"no command wrote gone\.txt"):
        run_page(page(tmp_path, "<!-- shown: gone.txt -->\n```text\n1\n```\n"))


def test_a_part_of_a_file_is_shown_between_two_texts(tmp_path: Path) -> None:
    text = '```console\n$ seq 5 > n.txt\n```\n\n<!-- shown: n.txt from "2" to "4" -->\n```text\n2\n3\n4\n```\n'
    assert run_page(page(tmp_path, text)) == []
    assert run_page(page(tmp_path, text.replace("3\n", "")))


def test_the_environment_and_the_folder_last_from_block_to_block(tmp_path: Path) -> None:
    text = "```console\n$ mkdir inner\n$ cd inner\n$ export COLOUR=red\n```\n\n```console\n$ echo $COLOUR $PWD\nred ~/example/inner\n```\n"
    assert run_page(page(tmp_path, text)) == []


def test_what_a_page_types_into_a_debugger_is_run(tmp_path: Path) -> None:
    text = (
        '```python title="pause.py"\ncount = 41\nbreakpoint()\nprint(count)\nprint()\n```\n\n'
        "```console\n$ python pause.py\n> ...pause.py(3)<module>()\n-> print(count)\n(Pdb) count += 1\n(Pdb) c\n42\n\n```\n"
    )
    assert run_page(page(tmp_path, text)) == []
    assert run_page(page(tmp_path, text.replace("(Pdb) count += 1", "(Pdb) count += 2")))


@pytest.mark.parametrize(
    "shown, printed",
    [
        (["took 3.1 s"], ["took 12 s"]),
        (["at 0x7f00aabbcc"], ["at 0x7fffffffff"]),
        (["in process_17"], ["in process_4711"]),
        (["first", "...", "last"], ["first", "a", "b", "last"]),
        (["first", "...", "last"], ["first", "last"]),
        (["took ... and ended"], ["took a while and ended"]),
        (["PyTorch 2.13.0+cpu, Python 3.11.7."], ["PyTorch 2.14.0, Python 3.12.1."]),
    ],
)
def test_what_differs_from_run_to_run_is_no_difference(shown: list[str], printed: list[str]) -> None:
    assert page_compare.is_shown(shown, printed)


@pytest.mark.parametrize(
    "shown, printed",
    [
        (["took 3.1 s"], ["took 3.1 ms"]),
        (["3 kernels"], ["4 kernels"]),
        (["first", "..."], ["second", "first"]),
        (["first", "...", "last"], ["first", "last", "more"]),
        ([], ["output"]),
        (["output"], []),
    ],
)
def test_everything_else_is_a_difference(shown: list[str], printed: list[str]) -> None:
    assert not page_compare.is_shown(shown, printed)


def test_an_omission_stays_when_a_page_is_renewed() -> None:
    assert page_compare.renewed(["a", "...", "z"], ["b", "c", "d", "y"]) == ["b", "...", "y"]


def test_durations_are_renewed_where_that_is_wanted() -> None:
    page, run = ["took 9 s", "...", "b  9 ms", "c ... 9 s", ""], ["took 1 s", "a", "b  10 ms", "c and 1 s"]
    assert page_compare.renewed(page, run) == page
    assert page_compare.renewed(page, run, with_times=True) == ["took 1 s", "...", "b  10 ms", "c ... 9 s", ""]


def test_a_picture_needs_an_image_and_the_file_that_it_shows(tmp_path: Path) -> None:
    picture = "<!-- picture: page.html -->\n![A page](images/page.png)\n"
    with pytest.raises(PageError, match=r"no command wrote page\.html"):
        run_page(page(tmp_path, picture))
    with pytest.raises(PageError, match="no picture"):
        blocks_of("<!-- picture: page.html -->\nText\n")
    commands = "```console\n$ echo '<main><p>Hello</p></main>' > page.html\n```\n\n"
    assert run_page(page(tmp_path, commands + picture)) == []
    assert not (tmp_path / "images" / "page.png").exists()
    assert run_page(page(tmp_path, commands + picture), renew=True) == []
    assert (tmp_path / "images" / "page.png").read_bytes().startswith(b"\x89PNG")
