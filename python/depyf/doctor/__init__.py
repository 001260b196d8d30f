"""Implements `python -m depyf doctor`, which finds the features of depyf that work with the installed PyTorch and
Python.

`depyf.compat.probe` examines the private names of PyTorch; a small program (`trial`) tries the features that can be
checked only by using them.
"""

from __future__ import annotations

import dataclasses
import json
import platform
import sys
import textwrap
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import depyf
from depyf.compat import probe, releases
from depyf.doctor import bug_report, offline, trial
from depyf.session import FeatureState

__all__ = ["Diagnosis", "diagnose"]


@dataclass
class Diagnosis:
    """The state of each feature of depyf, and the outcome of the trial program."""

    depyf: str
    python: str
    torch: str | None
    """The version of PyTorch; None if PyTorch is not installed."""
    backend: str
    """The backend of torch.compile in the trial program."""
    features: list[FeatureState]
    program: str
    """The outcome of the trial program: "works", the error, or "not run" without PyTorch."""
    warnings: list[str] = field(default_factory=list)
    """The warnings of depyf during the diagnosis."""

    @property
    def ok(self) -> bool:
        """True if the program did not fail, and each feature has the state that is expected with the installed
        releases."""
        return self.program in ("works", "not run") and all(feature.expected for feature in self.features)

    def to_json(self) -> str:
        """Returns the diagnosis as JSON."""
        return json.dumps({**dataclasses.asdict(self), "ok": self.ok}, indent=2)

    def __str__(self) -> str:
        torch = f"PyTorch {self.torch}" if self.torch else "no PyTorch, which all features except the decompiler need"
        lines = [f"depyf {self.depyf}, Python {self.python}, {torch}", ""]
        width = max(len(feature.feature) for feature in self.features)
        for feature in self.features:
            lines.append(f"{feature.feature:{width}}  {feature.status}")
            for why in feature.why:
                lines += textwrap.wrap(
                    why, 100, initial_indent="    ", subsequent_indent="      ", break_long_words=False
                )
        program = self.program if self.torch is None else f"{self.program} (backend: {self.backend})"
        lines += ["", f"A small program, from torch.compile to the dump and the explanation: {program}"]
        if self.ok:
            lines.append("Everything that should work with these releases works.")
        else:
            lines.append("Something that should work with these releases does not work.")
        return "\n".join(lines)


def diagnose(backend: str = "aot_eager") -> Diagnosis:
    """Probes the installed PyTorch and Python, and runs the trial program once from end to end.

    Args:
        backend: the backend for torch.compile; with "inductor" the features that need Inductor are tried too, which
            takes longer and needs a C++ compiler.
    """
    version = releases.installed()
    program, warnings_given = "not run", []
    problems: dict[str, list[str]] = {}
    if version is not None:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            probe.load()
            program, problems = trial.run(backend)
        warnings_given = [str(warning.message) for warning in caught if str(warning.message).startswith("depyf")]
    else:
        problems = offline.run()
    features = [_with(feature, problems.get(feature.key, [])) for feature in probe.features()]
    return Diagnosis(depyf.__version__, platform.python_version(), version, backend, features, program, warnings_given)


def _with(state: FeatureState, problems: list[str]) -> FeatureState:
    """Returns the state of a feature, changed to missing if the trial program showed problems of the feature."""
    if not problems or state.status == probe.MISSING:
        return state
    return dataclasses.replace(state, status=probe.MISSING, why=[*state.why, *problems], expected=False)


def run(arguments: Any) -> int:
    """Runs `depyf doctor`. Returns the exit status: 0 if the diagnosis is ok; 1 if the diagnosis is not ok, or if the
    report cannot be written."""
    diagnosis = diagnose(arguments.backend)
    print(diagnosis.to_json() if arguments.json else diagnosis)
    if arguments.report is not None:
        findings = "\n".join([str(diagnosis), *diagnosis.warnings])
        text = bug_report.text(findings, diagnosis.torch)
        try:
            Path(arguments.report).write_text(text, encoding="utf-8")
        except OSError as error:
            print(f"depyf: {error}", file=sys.stderr)
            return 1
        print(f"Wrote {arguments.report}. Read the file before you send it.", file=sys.stderr)
    return int(not diagnosis.ok)
