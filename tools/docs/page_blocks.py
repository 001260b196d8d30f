"""The fenced blocks of a Markdown page, and what a test does with each of them.

A fenced block is of one of the kinds in this list:

- A block with `title="NAME"` behind the language is written into the file NAME.
- In a block ```` ```console ````, each line `$ COMMAND` is run, and the lines below it are the output of COMMAND. A
  command that ends with a backslash goes on in the next line, behind `> `. Lines that begin with the prompt of a
  debugger, `(Pdb) `, are typed into the command.
- A block below the comment `<!-- shown: FILE -->` shows FILE, which an earlier command wrote. With `from "A" to "B"`
  behind FILE, the block shows the part of FILE from the first line with the text A to the next line with the text B.
- A console block below the comment `<!-- install -->` installs depyf; its commands run only with `run_pages.py
  --fresh`.

A picture has the comment `<!-- picture: FILE -->` in the line above, or `<!-- picture: FILE #ADDRESS -->`. The picture
shows the HTML file FILE, which an earlier command wrote, in a browser; `run_pages.py --renew` takes a new picture.

A fenced block of any other kind is an error, since no test would notice if it were wrong.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["file", "console", "shown", "install", "picture"]

_FENCE = re.compile(r'^(?P<indent> *)(?P<ticks>`{3,}) *(?P<language>[\w+-]*)(?P<options>(?: +\w+="[^"]*")*) *$')
_OPTION = re.compile(r'(\w+)="([^"]*)"')
_DIRECTIVE = re.compile(r"^ *<!-- (?P<name>shown|install)(?:: ?(?P<argument>.*?))? -->$")
_PICTURE = re.compile(r"^<!-- picture: (?P<file>\S+?)(?: (?P<address>#\S*))? -->$")
_IMAGE = re.compile(r"^!\[[^\]]*\]\((?P<image>\S+)\)$")
_INDENTED = re.compile(r"^(?: {4}|\t) *\S")
_LIST_ITEM = re.compile(r"^ *(?:[-*+]|\d+\.) ")
_SHOWN = re.compile(r'^(?P<file>\S+)(?: from "(?P<first>[^"]+)" to "(?P<last>[^"]+)")?$')


class PageError(Exception):
    """A page has a block that cannot be run, or that shows no output of a run."""


@dataclass(frozen=True)
class Block:
    """A fenced block. `start` is the index of the first line behind the opening fence, and `end` that of the closing
    fence.

    For a picture, `file` is the HTML file, `first` the address in it, and `last` the image.
    """

    kind: Kind
    start: int
    end: int
    indent: str
    lines: tuple[str, ...]
    file: str | None = None
    first: str | None = None
    last: str | None = None


@dataclass(frozen=True)
class Command:
    """A command of a console block, with the lines that the page shows below it."""

    text: str
    shown_lines: tuple[str, ...]
    source_lines: tuple[str, ...]


def blocks_of(text: str) -> list[Block]:
    """Returns the fenced blocks of a page, in order. Raises PageError if a block is of no known kind."""
    lines = text.split("\n")
    blocks: list[Block] = []
    index = 0
    while index < len(lines):
        fence = _FENCE.match(lines[index])
        if picture := _PICTURE.match(lines[index]):
            blocks.append(_picture(lines, index, picture))
        if fence is None:
            if lines[index].lstrip().startswith("```"):
                raise PageError(f"line {index + 1}: a fence with an option that is not known: {lines[index].strip()}")
            if _is_indented_code(lines, index):
                raise PageError(f"line {index + 1}: an indented block is no fenced block, so that no test runs it")
            index += 1
            continue
        end = _closing(lines, index, fence)
        blocks.append(_block(lines, index, end, fence))
        index = end + 1
    return blocks


def _picture(lines: list[str], index: int, comment: re.Match[str]) -> Block:
    """Returns the picture below a comment."""
    image = _IMAGE.match(lines[index + 1]) if index + 1 < len(lines) else None
    if image is None:
        raise PageError(f"line {index + 1}: no picture `![TEXT](IMAGE)` is in the line below")
    return Block("picture", index, index, "", (), comment["file"], comment["address"] or "", image["image"])


def _is_indented_code(lines: list[str], index: int) -> bool:
    """True if Markdown takes a line for code because of its indentation: behind an empty line, and outside of a list."""
    if not _INDENTED.match(lines[index]) or (index > 0 and lines[index - 1].strip()):
        return False
    before = next((line for line in reversed(lines[:index]) if line.strip() and not line.startswith(" ")), "")
    return not _LIST_ITEM.match(before) and not before.startswith("!!!")


def _closing(lines: list[str], start: int, fence: re.Match[str]) -> int:
    """Returns the index of the line that closes a fence."""
    for index in range(start + 1, len(lines)):
        if lines[index].rstrip() == fence["indent"] + fence["ticks"]:
            return index
    raise PageError(f"line {start + 1}: the block is not closed")


def _block(lines: list[str], opening: int, end: int, fence: re.Match[str]) -> Block:
    """Returns the block between an opening and a closing fence."""
    indent = fence["indent"]
    body = tuple(line.removeprefix(indent) for line in lines[opening + 1 : end])
    options = dict(_OPTION.findall(fence["options"]))
    directive = _DIRECTIVE.match(lines[opening - 1]) if opening > 0 else None
    if directive is None and opening > 0 and lines[opening - 1].lstrip().startswith("<!--"):
        raise PageError(f"line {opening}: this is no comment that says what the block is: {lines[opening - 1].strip()}")
    place = opening + 1, end, indent, body
    if directive is not None and directive["name"] == "shown":
        shown = _SHOWN.match(directive["argument"] or "")
        if shown is None:
            raise PageError(f'line {opening}: this is not `shown: FILE` or `shown: FILE from "A" to "B"`')
        return Block("shown", *place, shown["file"], shown["first"], shown["last"])
    if fence["language"] == "console":
        return Block("install" if directive is not None else "console", *place)
    if "title" in options:
        return Block("file", *place, options["title"])
    raise PageError(f"line {opening + 1}: no test runs this block; give it a title, or make it a console block")


def commands_of(block: Block) -> list[Command]:
    """Returns the commands of a console block. Raises PageError if the first line of the block is no command."""
    commands: list[Command] = []
    index = 0
    while index < len(block.lines):
        if not block.lines[index].startswith("$ "):
            raise PageError(f"line {block.start + index + 1}: a console block begins with `$ `")
        source = [block.lines[index]]
        index += 1
        while source[-1].endswith("\\") and index < len(block.lines) and block.lines[index].startswith("> "):
            source.append(block.lines[index])
            index += 1
        shown = []
        while index < len(block.lines) and not block.lines[index].startswith("$ "):
            shown.append(block.lines[index])
            index += 1
        commands.append(Command("\n".join(line[2:] for line in source), tuple(shown), tuple(source)))
    return commands
