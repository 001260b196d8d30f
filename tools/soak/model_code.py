#!/usr/bin/env python3
"""Code objects that Dynamo makes of small models of the transformers library: does each come back as a single function?

    model_code.py [--only llama gpt2]

Each class of modules in a model is compiled by itself with the backend eager, so that one model gives many functions. Each
function that Dynamo compiled, and the code that it made of it, is written to a file of its own. The command decompiles the file, and
the source is compiled as it is. It has to hold a function with the free variables and the flags of the original, and depyf.prove
has to prove it. The exit status is 1 if some function loses a free variable or a flag.
"""

from __future__ import annotations

import argparse
import collections
import importlib.util
import marshal
import os
import subprocess
import sys
import tempfile
import types
import warnings
from pathlib import Path

import models

KINDS = (
    "llama mistral qwen2 gemma2 phi3 gpt2 gpt_neox gptj opt bloom falcon mixtral biogpt bert roberta deberta-v2".split()
)
COMMAND = models.ROOT / "build" / "dev" / "depyf-decompile"
FUTURE_FLAGS = 0x1FF0000  # co_flags of `from __future__ import ...`


def function_in(code: types.CodeType) -> types.CodeType:
    """Return the code of the function that a decompiled source defines, possibly inside a function `__outer` that only
    binds its free variables."""
    inner = [const for const in code.co_consts if isinstance(const, types.CodeType)]
    return function_in(inner[0]) if inner[0].co_name == "__outer" else inner[0]


def judge(code: types.CodeType) -> str:
    """Decompile and compile a code object. Return "proved", "proved, but keeps a value longer", or an error such as
    "loses a future flag"."""
    import depyf

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "function.pyc")
        try:
            file.write_bytes(importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code))
        except ValueError as error:
            return f"not written: {error}"
        source = subprocess.run([COMMAND, "-q", file], capture_output=True, text=True, check=False).stdout
    try:
        compiled = compile(source, code.co_filename, "exec", dont_inherit=True)
        function = function_in(compiled)
    except (SyntaxError, IndexError) as error:
        return f"does not compile: {error}"
    if lost := sorted(set(code.co_freevars) - set(function.co_freevars)):
        return f"loses the free variable {', '.join(lost)}"
    if code.co_flags & FUTURE_FLAGS != function.co_flags & FUTURE_FLAGS:
        return "loses a future flag"
    proof = depyf.prove(code, depyf.compile_like(source, code), lifetimes=False)
    if not proof:
        return f"not proved: {proof.reason}"
    return "proved, but keeps a value longer" if proof.kept else "proved"


def proved_of(verdicts: collections.Counter[str]) -> int:
    """Return how many verdicts are proofs."""
    return sum(count for verdict, count in verdicts.items() if verdict.startswith("proved"))


def code_of_model(kind: str, auto: str) -> list[types.CodeType]:
    """Return the code of each function of a model that Dynamo compiled, and the code that Dynamo generated for it."""
    from torch._dynamo.convert_frame import register_bytecode_hook

    import torch

    namespace: dict[str, object] = {}
    exec(models.PROGRAM.format(auto=auto, kind=kind, sizes=models.SIZES), namespace)
    model = namespace["subject"]()  # type: ignore[operator]
    ((arguments, keywords), *_) = namespace["calls"]()  # type: ignore[operator]
    found: list[types.CodeType] = []
    handle = register_bytecode_hook(lambda old, new: found.extend((old, new)))
    try:
        for cls in {type(module): None for module in model.modules()}:
            torch.compiler.reset()
            compiled = [module for module in model.modules() if type(module) is cls]
            for module in compiled:
                module.compile(backend="eager")
            model(*arguments, **keywords)
            for module in compiled:
                module._compiled_call_impl = None
    finally:
        handle.remove()
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="KIND", help="use only models of these kinds (default: all kinds)")
    options = parser.parse_args()
    models.install()
    sys.path.insert(0, str(models.PACKAGES))
    os.environ["TRANSFORMERS_VERBOSITY"] = "error"
    warnings.simplefilter("ignore")
    total: collections.Counter[str] = collections.Counter()
    seen: set[types.CodeType] = set()
    for kind in options.only or KINDS:
        codes = code_of_model(kind, "AutoModel" if kind in models.ENCODERS else "AutoModelForCausalLM")
        verdicts = collections.Counter(judge(code) for code in codes if code not in seen)
        seen.update(codes)
        total += verdicts
        print(f"{kind:12} {verdicts.total():4} code objects, {proved_of(verdicts):4} proved", flush=True)
        for verdict, count in verdicts.items():
            if verdict != "proved":
                print(f"    {count} {verdict[:300]}", flush=True)
    with_variables = sum(bool(code.co_freevars) for code in seen)
    print(
        f"{proved_of(total)} of {total.total()} code objects are proved as single functions; "
        f"{with_variables} have free variables, {sum('__class__' in code.co_freevars for code in seen)} of them __class__"
    )
    return 1 if any("loses" in verdict or "compile" in verdict for verdict in total) else 0


if __name__ == "__main__":
    sys.exit(main())
