"""Compiles a program and edits of it, each in a folder of its own, for the test of `depyf diff`.

    diff_programs.py FOLDER < edits.json

`edits.json` is an object with the sources by name. Each source defines `run()`. One process compiles all sources,
because loading PyTorch takes longer than compiling one source.
"""

import json
import sys
from pathlib import Path

import depyf
import torch

for name, source in json.load(sys.stdin).items():
    folder = Path(sys.argv[1], name)
    folder.mkdir()
    path = folder / "model.py"
    path.write_text(source)
    torch._dynamo.reset()
    torch.set_default_dtype(torch.float32)
    torch.manual_seed(0)
    namespace = {"__name__": "model"}
    exec(compile(source, str(path), "exec"), namespace)
    with depyf.prepare_debug(str(folder / "dump")):
        namespace["run"]()
