"""Runs programs in folders of their own, each under depyf: findings_programs.py FOLDER NAME...

FOLDER/NAME/model.py defines `run()`, which returns a tensor. The dump is FOLDER/NAME/dump, and the tensor FOLDER/NAME/result.pt.
"""

import contextlib
import io
import logging
import sys
import warnings
from pathlib import Path

import torch._dynamo

import depyf
import torch

logging.disable(logging.CRITICAL)
warnings.simplefilter("ignore")
settings = torch._dynamo.config.save_config()
for name in sys.argv[2:]:
    folder = Path(sys.argv[1], name)
    path = folder / "model.py"
    torch._dynamo.reset()
    torch.manual_seed(0)
    # A program's changes of settings must not affect the next program.
    torch._dynamo.config.load_config(settings)
    with torch._dynamo.config.patch(reorderable_logging_functions=set()), contextlib.redirect_stdout(io.StringIO()):
        namespace = {"__name__": "model"}
        exec(compile(path.read_text(), str(path), "exec"), namespace)
        with depyf.prepare_debug(str(folder / "dump")):
            result = namespace["run"]()
    torch.save(result, folder / "result.pt")
