#!/usr/bin/env python3
"""Round-trip a decompiler: source -> .pyc -> decompiled text -> code objects, compared.

    roundtrip.py --python PY --corpus stdlib,tests --command 'depyf-decompile {pyc}' --json out.json

Prints one summary line; with --json, writes all verdicts.  See README.md.
"""

import argparse
import collections
import json
import os
import random
import re
import resource
import select
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
# The texts that decompilers write in place of a part of the module that they cannot decompile.
MARKERS = re.compile(
    rb"decompyle incomplete|unsupported opcode|unsupported node|unable to decompile|parse error at or near"
    rb"|# ?decompil\w* (?:error|failed)|unhandled opcode|### ?ERROR|# depyf: not ",
    re.I,
)
TESTS = """grammar patma with exceptions generators coroutines asyncgen genexps listcomps dictcomps
    setcomps fstring named_expressions positional_only_arg keywordonlyarg extcall unpack unpack_ex
    decorators class scope exception_group except_star exception_variations type_params type_aliases
    type_annotations global super metaclass contextlib raise compile peepholer string_literals tstring
    augassign binop bool call compare contains dict descr funcattrs generator_stop generator_await if
    iter lambda opcodes pep646_syntax pkg property slice syntax try tuple unparse while dis
    annotationlib finally yield_from pow int_literal complex_args""".split()


def code_worker(python):
    env = dict(os.environ, PYTHONHASHSEED="0", PYTHONDONTWRITEBYTECODE="1", PYTHONIOENCODING="utf-8")
    return subprocess.Popen(
        [python, str(HERE / "compare.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=env,
    )


class Worker:
    """A process in which the interpreter under test runs compare.py; it is restarted after it crashed or hung."""

    def __init__(self, python, limit=60):
        self.python, self.limit, self.process = python, limit, None

    def ask(self, **request):
        """Sends a request to compare.py. Returns the answer, or None if the interpreter crashed or took too long."""
        if self.process is None:
            self.process = code_worker(self.python)
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
            ready, _, _ = select.select([self.process.stdout], [], [], self.limit)
            line = self.process.stdout.readline() if ready else b""
        except BrokenPipeError:
            line = b""
        if line.endswith(b"\n"):
            return json.loads(line)
        self.close()
        return None

    def close(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.process = None


def run(command, out, err, timeout, memory):
    """Run `command`; returns (return code or None on timeout, seconds, peak RSS in MiB)."""

    def limits():
        os.setsid()
        if memory:
            resource.setrlimit(resource.RLIMIT_AS, (memory << 20, memory << 20))

    expired = []
    start = time.perf_counter()
    with open(out, "wb") as stdout, open(err, "wb") as stderr:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, preexec_fn=limits)

        def kill():
            expired.append(True)
            os.killpg(process.pid, signal.SIGKILL)

        timer = threading.Timer(timeout, kill)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
    process.returncode = 0  # os.wait4 has reaped the process already
    seconds = time.perf_counter() - start
    code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    return (None if expired else code), seconds, usage.ru_maxrss / 1024


def stdlib_of(python):
    text = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_paths()['stdlib'])"], stdout=subprocess.PIPE, check=True
    ).stdout
    return Path(text.decode().strip())


def corpus_files(corpus, python):
    """Returns (the sorted source files, their root folder) of a corpus: `stdlib`, `tests`, or the path of a folder."""
    if corpus in ("stdlib", "tests"):
        root = stdlib_of(python)
        if corpus == "tests":
            files = [root / "test" / ("test_%s.py" % name) for name in TESTS]
            files += [root / "test" / ("test_%s" % name) / "__init__.py" for name in TESTS]
            return sorted(file for file in files if file.exists()), root
        skip = {"test", "tests", "idle_test", "lib2to3", "site-packages", "__pycache__", "dist-packages"}
    else:
        root, skip = Path(corpus), {"__pycache__"}
    files = [file for file in root.rglob("*.py") if not skip & set(file.relative_to(root).parts)]
    return sorted(files, key=lambda file: file.relative_to(root).as_posix()), root


def prepare(corpora, python, sample, seed, work, worker):
    """Compile the corpora; returns modules as dicts with name, src and pyc."""
    modules = []
    for corpus in corpora:
        files, root = corpus_files(corpus, python)
        if sample and corpus != "tests" and len(files) > sample:
            files = sorted(random.Random(seed).sample(files, sample))
        for file in files:
            pyc = work / ("%05d_%s.pyc" % (len(modules), file.stem))
            name = "%s/%s" % (Path(corpus).name, file.relative_to(root).as_posix())
            reply = worker.ask(do="compile", src=str(file), pyc=str(pyc), name=file.name)
            if reply and reply["ok"]:
                modules.append({"name": name, "src": str(file), "pyc": str(pyc)})
    return modules


def judge(module, command, python, worker, timeout, memory):
    """Decompile and compare one module; returns its record."""
    out, err = module["pyc"] + ".out.py", module["pyc"] + ".err"
    fields = {"pyc": module["pyc"], "src": module["src"], "python": python}
    argv = [part.format(**fields) for part in command]
    code, seconds, rss = run(argv, out, err, timeout, memory)
    text, errors = Path(out).read_bytes(), Path(err).read_bytes()
    record = {
        "name": module["name"],
        "seconds": round(seconds, 4),
        "rss": round(rss, 1),
        "reason": "",
        "exit": code,
        "stderr": errors[:2000].decode("utf-8", "replace"),
    }
    reply = worker.ask(do="compare", pyc=module["pyc"], src=module["src"], out=out)
    if reply is None:  # compiling the output crashed the interpreter or took too long
        lost = worker.ask(do="lost", pyc=module["pyc"]) or {"objects": []}
        reply = dict(lost, compiles=False, reason="compiler crashed, or no answer in time")
    record["objects"] = reply["objects"]
    for field in ("functions", "functions_same", "trees_differ"):
        record[field] = reply.get(field, 0)
    source = Path(module["src"]).read_bytes().lower()
    marker = next((found for found in MARKERS.finditer(text + errors) if found.group().lower() not in source), None)
    if code is None:
        record["verdict"] = "timeout"
    elif code < 0:
        record["verdict"], record["reason"] = "crash", signal.Signals(-code).name
    elif code or marker:
        record["verdict"], record["reason"] = "error", marker.group().decode() if marker else "exit %d" % code
    elif not reply["compiles"]:
        record["verdict"], record["reason"] = "no-compile", reply["reason"]
    else:
        record["verdict"] = "equal" if all(row["equal"] for row in reply["objects"]) else "differs"
    record["compiles"] = reply["compiles"]
    if not reply["compiles"] and record["verdict"] != "no-compile":
        record["reason"] += "; " + reply["reason"]
    return record


def summarise(records, elapsed):
    """Returns the totals over all records."""
    verdicts = collections.Counter(record["verdict"] for record in records)
    objects = [row for record in records for row in record["objects"]]
    kinds = collections.defaultdict(lambda: [0, 0])
    for row in objects:
        kinds[row["kind"]][0] += row["equal"]
        kinds[row["kind"]][1] += 1
    seconds = sum(record["seconds"] for record in records)
    reasons = collections.Counter(row["reason"] for row in objects if not row["equal"])
    return {
        "modules": len(records),
        "modules_equal": verdicts["equal"],
        "verdicts": dict(verdicts),
        "modules_compile": sum(record["compiles"] for record in records),
        "objects": len(objects),
        "objects_equal": sum(row["equal"] for row in objects),
        "objects_exact": sum(row["exact"] for row in objects),
        "functions": sum(record["functions"] for record in records),
        "functions_same": sum(record["functions_same"] for record in records),
        "docstrings_differ": sum(not row["doc"] for row in objects if row["equal"]),
        "kinds": dict(kinds),
        "reasons": dict(reasons.most_common(30)),
        "seconds": round(seconds, 2),
        "objects_per_second": round(len(objects) / seconds, 1) if seconds else 0,
        "peak_rss": max((record["rss"] for record in records), default=0),
        "elapsed": round(elapsed, 1),
    }


def summary_line(label, total):
    share = lambda part, whole: "%d/%d (%.1f%%)" % (part, whole, 100.0 * part / whole if whole else 0)
    verdicts = total["verdicts"]
    return (
        "%s: modules equal %s, code objects equal %s, error %d, differs %d, no-compile %d, crashes %d, timeouts %d, "
        "functions with the same tree %s, %.1f s, %.0f objects/s"
        % (
            label,
            share(total["modules_equal"], total["modules"]),
            share(total["objects_equal"], total["objects"]),
            verdicts.get("error", 0),
            verdicts.get("differs", 0),
            verdicts.get("no-compile", 0),
            verdicts.get("crash", 0),
            verdicts.get("timeout", 0),
            share(total["functions_same"], total["functions"]),
            total["seconds"],
            total["objects_per_second"],
        )
    )


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True, help="the interpreter whose bytecode is decompiled")
    parser.add_argument(
        "--command",
        required=True,
        help="the command of the decompiler, which prints source to standard output; {pyc}, {python} and {src} are "
        "replaced",
    )
    parser.add_argument(
        "--corpus",
        default="stdlib,tests",
        help="a list of stdlib, tests and folders with commas (default: stdlib,tests)",
    )
    parser.add_argument(
        "--sample",
        type=int,
        default=0,
        help="draw this number of files from each corpus except tests; 0: all files (default: 0)",
    )
    parser.add_argument("--seed", type=int, default=0, help="the seed that draws the files (default: 0)")
    parser.add_argument(
        "--limit",
        type=int,
        default=0,
        help="use only this number of the drawn files, at even distances; 0: all files (default: 0)",
    )
    parser.add_argument(
        "--timeout", type=float, default=20, help="the limit of the time for each file in seconds (default: 20)"
    )
    parser.add_argument(
        "--memory",
        type=int,
        default=4096,
        help="the limit of the address space of the decompiler in MiB; 0: no limit (default: 4096)",
    )
    parser.add_argument("--json", help="write all verdicts to this file")
    parser.add_argument("--keep", help="write the .pyc files and the outputs to this folder, and keep the folder")
    parser.add_argument("--label", default="", help="the name of the decompiler in the output")
    args = parser.parse_args(argv)
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(args.keep or scratch)
        work.mkdir(parents=True, exist_ok=True)
        worker = Worker(args.python)
        modules = prepare(args.corpus.split(","), args.python, args.sample, args.seed, work, worker)
        if args.limit and len(modules) > args.limit:
            modules = [modules[i * len(modules) // args.limit] for i in range(args.limit)]
        command = shlex.split(args.command)
        records = [judge(module, command, args.python, worker, args.timeout, args.memory) for module in modules]
        worker.close()
    total = summarise(records, time.perf_counter() - start)
    if args.json:
        Path(args.json).parent.mkdir(parents=True, exist_ok=True)
        with open(args.json, "w") as file:
            json.dump(
                {
                    "command": args.command,
                    "python": args.python,
                    "corpus": args.corpus,
                    "sample": args.sample,
                    "seed": args.seed,
                    "total": total,
                    "modules": records,
                },
                file,
            )
    print(summary_line(args.label or args.command, total))
    return 0


if __name__ == "__main__":
    sys.exit(main())
