"""Rebuilds the index, session and full_code files of a `prepare_debug` block whose process died, from the journal that
the process left."""

from __future__ import annotations

import contextlib
import types
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from depyf import _core, dump, files, journal, names
from depyf.capture import story
from depyf.capture.artifacts import Artifacts
from depyf.capture.compilation import Compilation, link_resume_names
from depyf.plain_data import load
from depyf.session import Frame, Session
from depyf.source_line import Line

_MOST_LINES = 1_000_000  # a recorded line number that is not below this bound is ignored
_NOT_KNOWN = (
    "What was compiled before the block, the features of depyf that worked, where the time of compiling went, the links "
    "from lines to kernels and the guards as functions are not known."
)


@dataclass
class Block:
    """The content of the journal of a `prepare_debug` block."""

    path: Path
    process: int
    session: Session
    is_open: bool
    """True if the block's process is alive, and has not ended the block."""
    compilations: list[Compilation] = field(default_factory=list)

    @property
    def last_compilation(self) -> str:
        """Returns a text that describes the compilation that began last."""
        if not self.compilations:
            return "nothing was compiled"
        compile = self.compilations[-1]
        frame = compile.frame
        where = f" ({Path(frame.filename).name}:{frame.line})" if frame.filename else ""
        state = "" if compile.ended else ", which had not ended"
        return f"last compilation: {frame.compile_id} of {frame.function}{where}{state}"


def blocks(directory: Path) -> list[Block]:
    """Returns the `prepare_debug` blocks that have journals in a directory: open blocks, and blocks whose processes
    died.

    Raises:
        OSError: a journal cannot be read.
    """
    paths = sorted(directory.glob(journal.PATTERN), key=lambda path: path.stat().st_mtime)
    return [_read(path) for path in paths]


def recover(directory: Path) -> list[Block]:
    """Writes the index, session and full_code files of those `prepare_debug` blocks of a directory whose processes
    died.

    The journals of dead processes are removed, because the written session contains everything that is in these
    journals. Returns all `prepare_debug` blocks that had journals, including open blocks.

    Raises:
        OSError: the directory cannot be read or written to; the journals are kept in this case.
    """
    with files.locked(directory):
        blocks_found = blocks(directory)
        dead = [block for block in blocks_found if not block.is_open]
        if dead:
            for block in dead:
                _write_full_code(block, directory)
                for left in directory.glob(f".depyf-{block.process}-*.tmp"):
                    left.unlink(missing_ok=True)
            dump.write_record(
                directory, [block.session for block in dead], [], last=_are_last(directory, dead), recovered=True
            )
            for block in dead:
                block.path.unlink(missing_ok=True)
    return blocks_found


def _are_last(directory: Path, dead: list[Block]) -> bool:
    try:
        ended = (directory / "session.json").stat().st_mtime
    except OSError:
        return True
    return dead[-1].path.stat().st_mtime >= ended


def _write_full_code(block: Block, directory: Path) -> None:
    try:
        story.write(block.compilations, block.session, Artifacts(directory))
    except Exception as error:
        block.session.notes.append(f"full_code could not be written: {type(error).__name__}: {error}")


class _Reader:
    """Collects the data in the journal of a `prepare_debug` block. Lines of the journal that cannot be read are
    counted."""

    def __init__(self) -> None:
        self.process = 0
        self.notes: list[str] = []
        self.lost = 0
        self._of_session: dict[str, Any] = {}
        self._fields: dict[int, dict[str, Any]] = {}  # number of a frame -> the values of its fields
        self._beside: dict[int, dict[str, Any]] = {}
        self._codes: dict[int, tuple[types.CodeType, str | None]] = {}

    def take(self, line: dict[str, Any] | None) -> None:
        """Processes the next line of the journal. `line` is None if the line could not be parsed."""
        try:
            if line is None:
                self.lost += 1
            elif "journal" in line:
                self._take_head(line)
            elif "frame" in line:
                number = load(int, line["frame"])
                self._fields.setdefault(number, {}).update(line.get("fields", {}))
                self._beside.setdefault(number, {}).update(line.get("of", {}))
            elif "code" in line:
                source = load(str | None, line["source"])
                self._codes[load(int, line["code"])] = _stand_in(line, source), source
            elif "session" in line:
                self._of_session.update(line["session"])
            else:
                why = line.get("given_up", f"it has reached its greatest size, {journal.MAX_BYTES >> 20} MiB")
                self.notes.append(
                    f"The journal ended before the block did ({why}), so that later events are missing here."
                )
        except (KeyError, TypeError, ValueError):
            self.lost += 1

    def _take_head(self, head: dict[str, Any]) -> None:
        if head["journal"] != journal.VERSION:
            raise ValueError("a different version of depyf wrote the journal")
        self.process = load(int, head["process"])
        self._of_session.update({name: load(str, head[name]) for name in ("torch_version", "python_version")})
        self._of_session["working_directory"] = load(str, head.get("working_directory", ""))
        self._of_session["run"] = load(int, head.get("run", 0))
        if "forked_from" in head:
            self.notes.append(f"Process {self.process} was forked in the block of process {head['forked_from']}.")

    def compilations(self) -> list[Compilation]:
        """Returns the compilations that the journal describes, in the order in which they began."""
        compilations = []
        for number, fields in sorted(self._fields.items()):
            try:
                compilations.append(self._compilation(fields, self._beside[number]))
            except (KeyError, TypeError, AttributeError):
                self.lost += 1
        return compilations

    def _compilation(self, fields: dict[str, Any], beside: dict[str, Any]) -> Compilation:
        compile = Compilation(load(Frame, {"compile_id": "?", "function": "?", **fields}))
        frame = compile.frame
        compile.number = frame.compiled_fn
        compile.ended = load(bool, beside.get("ended", False))
        if frame.status == "not compiled" and not compile.ended:
            frame.error = dump.DIED
        code = beside.get("code")
        if code is not None and code in self._codes:
            compile.original, compile.source = self._codes[code]
            compile.number_of_original = code
        resumes = beside.get("resumes", {}).items()
        compile.resumes = {name: number if number in self._codes else None for name, number in resumes}
        compile.resume_places = {name: load(Line, place) for name, place in beside.get("resume_places", {}).items()}
        frame.missing = dump.missing_artifacts(
            frame, set(beside.get("cached", ())), elsewhere=beside.get("elsewhere", False)
        )
        return compile

    def session(self, directory: Path) -> Session:
        """Returns the session that the journal describes, without its frames and notes."""
        try:
            return Session.from_dict(self._of_session, str(directory))
        except TypeError:
            self.lost += 1
            return Session(str(directory))


def _read(path: Path) -> Block:
    reader = _Reader()
    for line in journal.lines(path):
        reader.take(line)
    block = Block(path, reader.process, reader.session(path.parent), journal.is_open(path), reader.compilations())
    link_resume_names(block.compilations)
    block.session.frames = [compile.frame for compile in block.compilations]
    lead = "The block is still open" if block.is_open else "The process died before the block ended"
    lead += f" ({block.last_compilation}; process {block.process})."
    lead += "" if block.is_open else f" This is what its journal tells. {_NOT_KNOWN}"
    if reader.lost:
        reader.notes.append(f"{reader.lost} {'lines' if reader.lost > 1 else 'line'} of the journal cannot be read.")
    block.session.notes[:0] = [lead, *reader.notes]
    return block


def _stand_in(line: dict[str, Any], source: str | None) -> types.CodeType:
    """Returns a code object with the name, file and line of a function that no longer exists. The code object is
    compiled from the function's source if the source is known."""
    name, file, first = load(str, line["name"]), load(str, line["file"]), load(int, line["line"])
    with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        text = "\n" * (first - 1 if 0 < first < _MOST_LINES else 0) + (source or "")
        module = compile(text, file, "exec", dont_inherit=True)
        for code in names.nested_codes(module):
            if code is not module and code.co_name == name:
                return code
    return _core.moved(_stand_in.__code__, file, name=name)
