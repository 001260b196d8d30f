"""Runs the blocks of the pages of docs/, and compares what they show with what the run makes (see page_blocks.py).

run_pages.py [PAGE...]            those pages; none: all of docs/
run_pages.py --renew [PAGE...]    writes the outputs of the run into the pages
run_pages.py --renew --times      the same, with durations that the pages show: for a machine that does nothing else
run_pages.py --fresh CLONE PAGE   follows a page from a clone of the repository on, with the commands that install depyf
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import page_compare
from page_blocks import Block, Command, PageError, blocks_of, commands_of
from page_pictures import take_picture
from page_shell import PROMPTS, ROOT, SHOWN_HOME, Shell

DOCS = ROOT / "docs"
_ENTERS_HOME = "$ cd ~/"
_ASKS_STATUS = re.compile(r"^echo \$\?")


def pages() -> list[Path]:
    """Returns the pages of the documents."""
    return sorted(DOCS.rglob("*.md"))


class PageRun:
    """Runs the blocks of one page, and collects the differences between the page and the output of the run."""

    def __init__(
        self, text: str, shell: Shell, *, is_fresh: bool = False, images: Path | None = None, with_times: bool = False
    ) -> None:
        """Takes the text of a page, and the shell in which its commands are to run.

        images: the folder that the paths of pictures are relative to, or None. If `images` is not None, new pictures
        are taken.
        with_times: `renewed_text` contains the durations of this run too, instead of those of the page.
        """
        self._lines = text.split("\n")
        self._blocks = blocks_of(text)
        self._shell = shell
        self._is_fresh = is_fresh
        self._images = images
        self._with_times = with_times
        self.differences: list[str] = []
        self._renewed: list[tuple[Block, list[str]]] = []

    def run(self) -> None:
        """Runs all blocks. Raises PageError if a block cannot be run."""
        for block in self._blocks:
            if block.kind == "file":
                self._write(block)
            elif block.kind == "shown":
                self._compare(block, block.lines, self._part_of_file(block), f"{block.file}")
            elif block.kind == "picture":
                self._take_picture(block)
            elif block.kind == "console" or self._is_fresh:
                self._run_commands(block)
            # The next commands run in the folder that this block would have created.
            elif block.lines[-1].startswith(_ENTERS_HOME):
                self._shell.enter(block.lines[-1].removeprefix(_ENTERS_HOME))

    def renewed_text(self) -> str:
        """Returns the text of the page with the outputs of this run."""
        lines = list(self._lines)
        for block, body in reversed(self._renewed):
            lines[block.start : block.end] = [f"{block.indent}{line}".rstrip() for line in body]
        return "\n".join(lines)

    def _write(self, block: Block) -> None:
        """Writes a block into its file."""
        path = self._shell.working_folder() / str(block.file)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(block.lines) + "\n", encoding="utf-8")

    def _take_picture(self, block: Block) -> None:
        """Takes a new picture if `images` was given. Raises PageError if no command wrote its HTML file."""
        path = self._shell.working_folder() / str(block.file)
        if not path.is_file():
            raise PageError(f"line {block.start + 1}: no command wrote {block.file}")
        if self._images is not None:
            take_picture(path, block.first or "", self._images / str(block.last))

    def _part_of_file(self, block: Block) -> list[str]:
        """Returns the lines that a block is to show of its file."""
        path = self._shell.working_folder() / str(block.file)
        if not path.is_file():
            names = sorted(entry.name for entry in path.parent.iterdir()) if path.parent.is_dir() else []
            raise PageError(f"line {block.start}: no command wrote {block.file}; there are: {' '.join(names)}")
        lines = path.read_text(encoding="utf-8").replace(str(self._shell.home), SHOWN_HOME).rstrip("\n").split("\n")
        if block.first is None or block.last is None:
            return lines
        first = next((number for number, line in enumerate(lines) if block.first in line), None)
        if first is None:
            raise PageError(f"line {block.start}: {block.file} has no line with {block.first!r}")
        last = next((number for number in range(first, len(lines)) if block.last in lines[number]), None)
        if last is None:
            raise PageError(f"line {block.start}: {block.file} has no line with {block.last!r} behind {block.first!r}")
        return lines[first : last + 1]

    def _run_commands(self, block: Block) -> None:
        """Runs the commands of a console block."""
        commands = commands_of(block)
        body: list[str] = []
        for number, command in enumerate(commands):
            typed = [
                line[len(prompt) :] for line in command.shown_lines for prompt in PROMPTS if line.startswith(prompt)
            ]
            printed = self._shell.run(command.text, typed)
            following = commands[number + 1] if number + 1 < len(commands) else None
            self._check_status(command, following, printed)
            body += command.source_lines
            if block.kind == "install":  # The output of installers differs from machine to machine.
                body += command.shown_lines
            else:
                body += self._compare(None, command.shown_lines, printed, f"$ {command.text}")
        self._renewed.append((block, body))

    def _check_status(self, command: Command, following: Command | None, printed: list[str]) -> None:
        """Raises PageError if a command failed, unless the page goes on with `echo $?`."""
        if self._shell.status != 0 and not (following is not None and _ASKS_STATUS.match(following.text)):
            output = "\n".join(printed)
            raise PageError(f"exit status {self._shell.status} of: {command.text}\n{output}")

    def _compare(self, block: Block | None, shown: Sequence[str], made: list[str], name: str) -> list[str]:
        """Notes a difference between the page and the output of the run. Returns the lines that the page should
        show."""
        if not page_compare.is_shown(shown, made):
            self.differences.append("\n".join([f"{name}", "-- the page:", *shown, "-- the run:", *made]))
        body = page_compare.renewed(shown, made, with_times=self._with_times)
        if block is not None:
            self._renewed.append((block, body))
        return body


def run_page(path: Path, *, renew: bool = False, with_times: bool = False, clone: Path | None = None) -> list[str]:
    """Runs a page, and returns the differences. Raises PageError if a block cannot be run.

    renew: writes the outputs of the run into the page; with `with_times`, the durations of the run too.
    clone: a clone of the repository, in which the page is followed from its first command on.
    """
    # Durations that are written into the page must include the precompilation of headers, so `with_times` excludes
    # shared headers.
    shell = Shell(path.stem, is_fresh=clone is not None, shares_headers=clone is None and not with_times)
    try:
        if clone is not None:
            shell.run(f"cd {clone}")
        images = path.parent if renew else None
        page_run = PageRun(
            path.read_text(encoding="utf-8"), shell, is_fresh=clone is not None, images=images, with_times=with_times
        )
        try:
            page_run.run()
        finally:
            if renew:  # The page is written after an error too, with the outputs of the blocks before the error.
                path.write_text(page_run.renewed_text(), encoding="utf-8")
    finally:
        shell.close()
    return page_run.differences


def main() -> int:
    """Runs the command. Returns 1 if a page differs from the output of its run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--renew", action="store_true", help="write the outputs of the run into the pages")
    parser.add_argument("--times", action="store_true", help="with --renew: also write the durations of the run")
    parser.add_argument(
        "--fresh", type=Path, metavar="CLONE", help="also run the commands that install depyf, in CLONE"
    )
    parser.add_argument("pages", nargs="*", type=Path, metavar="PAGE", help="a page of docs/ (default: all pages)")
    parsed = parser.parse_args()
    status = 0
    for path in parsed.pages or pages():
        try:
            differences = run_page(path, renew=parsed.renew, with_times=parsed.times, clone=parsed.fresh)
        except PageError as error:
            differences = [str(error)]
            status = 1
        if not parsed.renew and differences:
            status = 1
        print(f"{path.name}: {'renewed' if parsed.renew and differences else len(differences) or 'ok'}", flush=True)
        for difference in differences if status else []:
            print(f"{path.name}: {difference}\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
