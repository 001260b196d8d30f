"""Writes the golden files of summaries and indexes: run `python tests/golden_texts.py`, and read the changes before
committing them.

The golden file of each program in tests/torch/programs has the summary that `depyf run` prints, `index.md` and the
pages of the compilations without guards, and for the program `links` the full_code files without guards and code. With
a directory as its argument, the program writes the files into it. The files belong to one release of PyTorch and of
CPython. Paths and times are replaced by fixed texts.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import re
import runpy
import sys
import tempfile
import warnings
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROGRAMS = Path(__file__).parent / "torch" / "programs"
GOLDEN = Path(__file__).parent / "torch" / "golden_texts"


def normalised(text: str, directory: str) -> str:
    """Returns the text without parts that differ between runs or machines."""
    text = text.replace(f"{directory}{os.sep}", "").replace(f"{ROOT}{os.sep}", "")
    text = re.sub(r"Compiling took .*\n\n(?:- Predicted .*\n)*\n?", "", text)
    text = re.sub(r"\d+\.\d+ s( spent|, )", r"T s\1", text)
    text = re.sub(r"(\| \[[\d/]+\]\(\w+\.md\) \| )[\d.]+", r"\1T", text)
    return re.sub(r"(\.md\) \| T? ?\| )(?:under )?\d+(?= \|)", r"\1G", text)


def renumbered(text: str) -> str:
    """Returns the text with Dynamo's numbers of graphs and resume functions, which count through a process, renumbered
    from 1."""
    numbers: dict[str, int] = {}
    return re.sub(
        r"(__compiled_fn_|__resume_at_\d+_)(\d+)",
        lambda match: f"{match[1]}{numbers.setdefault(match[2], len(numbers) + 1)}",
        text,
    )


def index(text: str) -> str:
    """Returns a page without the conditions under which a compilation is reused."""
    return re.sub(r"(?<=hold:\n\n)(?:- .*\n(?:  .*\n)*)+\n", "", text)


def links(text: str) -> str:
    """Returns a full_code file without guards, graphs and transformed code: its headings, and the user's own source."""
    kept, skips = [], False
    for line in text.splitlines():
        if line.startswith(("# The code above runs where", "# __compiled_fn_", "# __transformed_code_")):
            skips = True
        elif line.startswith(("# ----", "# __resume_at", "#====")):
            skips = False
        kept += [] if skips else [line]
    return "\n".join(kept)


def write(directory: Path) -> None:
    import torch._dynamo

    import depyf
    import torch
    from depyf import program

    directory.mkdir(parents=True, exist_ok=True)
    logging.disable(logging.WARNING)  # PyTorch's warning of the recompile limit contains the time and the process id
    warnings.simplefilter("ignore")
    for path in sorted(PROGRAMS.glob("*.py")):
        torch._dynamo.reset()
        torch.manual_seed(0)
        with tempfile.TemporaryDirectory() as dump:
            with (
                torch._dynamo.config.patch(automatic_dynamic_local_pgo=False),
                contextlib.redirect_stdout(io.StringIO()),
                depyf.prepare_debug(dump),
            ):
                runpy.run_path(str(path))
            pages = [Path(dump) / "index.md", *sorted(Path(dump).glob("compilation*.md"))]
            (Path(dump) / "times.json").unlink()  # without times, the summary does not order functions by their cost
            parts = [program.summary(Path(dump)), *(index(page.read_text(encoding="utf-8")) for page in pages)]
            if path.stem == "links":
                parts += [links(one.read_text(encoding="utf-8")) for one in sorted(Path(dump).glob("full_code*"))]
        text = "\n\n".join(normalised(part, dump).strip() for part in parts)
        text = renumbered(re.sub(r"\n{3,}", "\n\n", text))
        (directory / f"{path.stem}.txt").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    sys.path[:0] = [str(ROOT / "python"), str(Path(__file__).parent)]
    os.environ["OMP_NUM_THREADS"] = "1"
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else GOLDEN)
