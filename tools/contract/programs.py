"""Runs programs under depyf in one process, each in a folder of its own: programs.py FOLDER < {"name": source}."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import logging
import sys
from pathlib import Path

import depyf
import torch

# settings of torch._dynamo.config that the programs change
SETTINGS = ("assume_static_by_default", "automatic_dynamic_shapes", "recompile_limit")

logging.disable(logging.CRITICAL)
importlib.import_module("torch._inductor.config")
for name, source in json.load(sys.stdin).items():
    folder = Path(sys.argv[1], name)
    folder.mkdir(parents=True)
    path = folder / "model.py"
    path.write_text(source)
    torch._dynamo.reset()
    torch.set_grad_enabled(True)
    torch.set_default_dtype(torch.float32)
    namespace = {"__name__": "model"}
    exec(compile(source, str(path), "exec"), namespace)
    print(name, file=sys.stderr, flush=True)
    with (
        torch._dynamo.config.patch({setting: getattr(torch._dynamo.config, setting) for setting in SETTINGS}),
        depyf.prepare_debug(str(folder / "dump")),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        try:
            namespace["run"]()
        except Exception as error:  # An error in the program itself: the file `failed` marks it as not compared.
            print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
            (folder / "failed").write_text(str(error))
