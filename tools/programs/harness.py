"""Runs one program of the suite and writes what it did as JSON: harness.py PROGRAM OUTPUT.

The same code runs without depyf (`python harness.py ...`) and with depyf (`python -m depyf run harness.py ...`), so
this module does not import depyf. The function `main` of the program returns the values that `judge.py` compares.
"""

from __future__ import annotations

import atexit
import hashlib
import importlib
import json
import os
import random
import re
import resource
import sys
from pathlib import Path
from typing import Any


def text_without_chance(value: object) -> str:
    """Returns the text of a value without addresses and without the numbers of compilations, which differ between runs."""
    text = re.sub(r"0x[0-9a-f]+", "0x", str(value))
    return re.sub(r"\[\d+/\d+(_\d+)?\]", "[]", re.sub(r"_\d+_c\d+", "_", text))


def digest(value: Any) -> Any:
    """Returns a value as plain data in which each tensor is its type, its shape and a checksum of its bytes."""
    import torch

    if isinstance(value, torch.Tensor):
        plain = value.detach().contiguous().flatten()
        content = plain.view(torch.uint8).numpy().tobytes() if plain.numel() else b""
        return [str(value.dtype), list(value.shape), hashlib.sha256(content).hexdigest()]
    if isinstance(value, dict):
        return {str(key): digest(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [digest(item) for item in value]
    if isinstance(value, BaseException):
        return [type(value).__name__, text_without_chance(value)]
    return text_without_chance(value) if not isinstance(value, (int, float, bool)) else repr(value)


def peak_memory() -> int:
    """Returns the peak of the process's resident memory in KiB."""
    status = Path("/proc/self/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0])


def main() -> None:
    program, output = sys.argv[1], Path(sys.argv[2])
    import numpy
    import torchvision_operators
    from torch._dynamo import convert_frame
    from torch._dynamo.utils import counters

    import torch

    torchvision_operators.define()
    compiled: list[list[Any]] = []

    def note(original: Any, transformed: Any) -> None:
        compiled.append([original.co_name, os.path.basename(original.co_filename), original.co_firstlineno])

    convert_frame.register_bytecode_hook(note)
    random.seed(0)
    numpy.random.seed(0)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    sys.path.insert(0, str(Path(__file__).parent / "suite"))
    module = importlib.import_module(program)
    try:
        result = module.main()
    except Exception as error:
        import traceback

        traceback.print_exc()
        result = error
    facts = {
        "result": digest(result),
        "raised": repr(result)[:400] if isinstance(result, Exception) else "",
        "compiled": compiled,
        "counters": {
            kind: {text_without_chance(key): count for key, count in table.items()}
            for kind, table in counters.items()
            if table
        },
        "random_state": digest(torch.get_rng_state()),
    }

    def write() -> None:
        # The figures are written when Python ends, so that they contain the work of depyf at the end of its block.
        usage = resource.getrusage(resource.RUSAGE_SELF)
        facts["processor_seconds"] = usage.ru_utime + usage.ru_stime
        facts["peak_kib"] = peak_memory()
        output.write_text(json.dumps(facts))

    atexit.register(write)


main()
