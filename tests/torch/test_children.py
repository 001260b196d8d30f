"""`depyf run` captures the Python processes that a program starts: each in a folder of its own, all in one summary."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import torch
from depyf.capture import children
from torch_helpers import ENVIRONMENT, check_dump, runs_in

PROGRAM = """
import multiprocessing, os, signal, subprocess, sys
import torch
from torch._dynamo.utils import counters

def add(x, number):
    return x.sin() + number

def work(number):
    # A break at the print, so that each process has a graph break and a resume function.
    def compiled_in_worker(x):
        y = add(x, number)
        print("in worker", number, flush=True)
        return y * 2
    result = torch.compile(compiled_in_worker, backend="eager")(torch.zeros(3))
    print(number, result.tolist(), counters["frames"]["total"], flush=True)

def killed():
    work(6)
    os.kill(os.getpid(), signal.SIGKILL)

def run(kind, target, *arguments):
    process = multiprocessing.get_context(kind).Process(target=target, args=arguments)
    process.start()
    process.join()
    return process.exitcode

if __name__ == "__main__":
    print([run("spawn", work, number) for number in (1, 2)])
    print(run("fork", work, 3))
    print(run("forkserver", work, 4))
    print(subprocess.run([sys.executable, "other.py"]).returncode)
    print(run("fork", killed))
    subprocess.run([sys.executable, "-c", "print('no torch', flush=True)"])
    torch.compile(add, backend="eager")(torch.zeros(3), 1)
    sys.stdout.flush()
    process = os.fork()
    if process == 0:
        torch.compile(lambda x: x + 7, backend="eager")(torch.zeros(3))
        sys.exit(4)
    print(os.waitpid(process, 0)[1] >> 8)
    sys.exit(3)
"""
OTHER = "import program\nprogram.work(5)\nraise SystemExit(9)\n"


def depyf(*arguments, cwd):
    command = [sys.executable, "-m", "depyf", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True, timeout=600)


def folders(directory):
    """Returns the folders of processes in a dump."""
    return sorted(directory.glob("process_*"))


def functions(directory):
    """Returns the functions that the last run in a folder compiled."""
    return [frame["name"] for frame in runs_in(directory)[-1]["frames"]]


@pytest.mark.slow
def test_processes_that_are_spawned_forked_and_started_are_in_the_dump_and_the_summary(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "other.py").write_text(OTHER)
    plain = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, timeout=600
    )
    assert plain.returncode == 3, plain.stderr
    done = depyf("run", "-o", "dump", "program.py", cwd=tmp_path)
    assert done.returncode == 3 and done.stdout == plain.stdout, done.stderr
    # There are two compilations of the function in each worker, one in the program, and one of the lambda after
    # os.fork.
    assert done.stderr.startswith("8 processes: 3 functions, 14 compilations, 1 distinct graph break, ")
    assert done.stderr.count("processes: ") == 1 and done.stderr.count("\n== the program, ") == 1
    assert done.stderr.count("       graph break at program.py:13: ") == 6
    dump = tmp_path / "dump"
    assert functions(dump) == ["add"]
    names = [functions(folder) for folder in folders(dump)]
    assert len(names) == 7
    assert names.count(["work.<locals>.compiled_in_worker"] * 2) == 6 and names.count(["<lambda>"]) == 1
    for folder in folders(dump):
        check_dump(folder)
        assert f"\n== process {folder.name.removeprefix('process_')}, " in done.stderr
    notes = [runs_in(folder)[-1]["notes"] for folder in folders(dump)]
    # The dump of the killed process is rebuilt from its journal; the other processes ended normally.
    assert sum("The process died before the block ended" in " ".join(each) for each in notes) == 1
    assert sum(each != [] for each in notes) == 1
    assert not list(dump.rglob("journal_*"))
    explained = depyf("explain", "dump", cwd=tmp_path)
    assert explained.returncode == 0 and explained.stdout.startswith("8 processes: ")


FORKS = """
import os, torch

def f(x):
    return x + 1

process = os.fork()
if process:
    os.waitpid(process, 0)
elif torch.compile(f, backend="eager")(torch.ones(2)).tolist() == [2, 2]:
    os._exit(0)
"""


def test_the_summary_of_a_second_run_in_a_directory_says_nothing_of_processes_of_the_first(tmp_path):
    (tmp_path / "forks.py").write_text(FORKS)
    for _ in range(2):
        done = depyf("run", "-o", "dump", "forks.py", cwd=tmp_path)
        assert done.returncode == 0 and "2 processes: 1 function, 1 compilation" in done.stderr, done.stderr
        assert "note: The process died before the block ended" in done.stderr
    assert len(folders(tmp_path / "dump")) == 2
    assert [run["run"] for run in runs_in(tmp_path / "dump")] == [1, 2]
    assert depyf("explain", "dump", cwd=tmp_path).stdout.startswith("4 processes: 1 function, 2 compilations")


LOADER = """
import sys
import torch

def prepare(x):
    return x.cos() * 3

class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, index):
        return torch.compile(prepare, backend="eager")(torch.ones(2) * index)

if __name__ == "__main__":
    for kind in ("fork", "spawn"):
        loader = torch.utils.data.DataLoader(Data(), batch_size=2, num_workers=2, multiprocessing_context=kind)
        print(kind, torch.cat(list(loader)).tolist())
    idle = torch.utils.data.DataLoader(torch.arange(4.0), num_workers=2)
    print(torch.cat(list(idle)).tolist())
"""


@pytest.mark.slow
def test_workers_of_a_data_loader_are_captured(tmp_path):
    (tmp_path / "load.py").write_text(LOADER)
    plain = subprocess.run(
        [sys.executable, "load.py"], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, timeout=600
    )
    done = depyf("run", "-o", "dump", "load.py", cwd=tmp_path)
    assert done.returncode == plain.returncode == 0 and done.stdout == plain.stdout, done.stderr
    dump = tmp_path / "dump"
    assert functions(dump) == [] and [functions(folder) for folder in folders(dump)] == [["prepare"]] * 4
    assert done.stderr.startswith("5 processes: 1 function, 4 compilations, ")


RANKS = """
import torch, torch.distributed as dist

if __name__ == "__main__":
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    def step(x):
        return x * (rank + 2)
    y = torch.compile(step, backend="eager")(torch.ones(3))
    dist.all_reduce(y)
    assert y.tolist() == [5.0] * 3, y
    import multiprocessing
    def helper():
        torch.compile(lambda x: x - 1, backend="eager")(torch.ones(3))
    worker = multiprocessing.get_context("fork").Process(target=helper)
    worker.start()
    worker.join()
    dist.barrier()
    dist.destroy_process_group()
"""


@pytest.mark.slow
@pytest.mark.skipif(not torch.distributed.is_available(), reason="this PyTorch has no distributed")
@pytest.mark.parametrize("outermost", ["depyf", "torchrun"])
def test_ranks_of_torchrun_have_folders_of_their_own_and_their_helpers_too(outermost, tmp_path):
    (tmp_path / "ranks.py").write_text(RANKS)
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    capture = ["run", "-o", "dump"]
    if outermost == "depyf":
        command = ["-m", "depyf", *capture, *torchrun, "ranks.py"]
    else:
        command = [*torchrun, "-m", "depyf", *capture, "ranks.py"]
    done = subprocess.run(
        [sys.executable, *command],
        cwd=tmp_path,
        env={**ENVIRONMENT, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    dump = tmp_path / "dump"
    for rank in range(2):
        assert functions(dump / f"rank_{rank}") == ["step"]
    helpers = [path for path in dump.rglob("process_*")]
    assert [functions(path) for path in helpers] == [["helper.<locals>.<lambda>"]] * 2
    text = depyf("explain", "dump", cwd=tmp_path).stdout
    assert text.startswith(f"{4 + (outermost == 'depyf')} processes: 2 functions, 4 compilations")
    assert "rank 1: first differs from rank 0 in compilation 0/0: the captured graph" in text
    assert text.count("first differs") == 1
    if outermost == "depyf":
        assert done.stderr.count("processes: ") == 1


def test_a_run_that_a_captured_process_starts_is_in_its_own_dump_alone(tmp_path):
    (tmp_path / "forks.py").write_text(FORKS)
    startup = [str(children.STARTUP), ENVIRONMENT["PYTHONPATH"]]
    variables = {
        **ENVIRONMENT,
        "DEPYF_DIR": str(tmp_path / "outer"),
        "DEPYF_PREFIX": sys.prefix,
        "PYTHONPATH": os.pathsep.join(startup),
    }
    command = [sys.executable, "-m", "depyf", "run", "-o", "inner", "forks.py"]
    done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0 and "2 processes: 1 function, 1 compilation" in done.stderr, done.stderr
    assert functions(folders(tmp_path / "inner")[0]) == ["f"] and not (tmp_path / "outer").exists()


CHECKED = """
import os, sys, torch

@torch.compile(backend="eager")
def f(x):
    return x + 1

process = os.fork()
if process == 0:
    f(torch.ones(2))
    sys.exit(0)
assert os.waitpid(process, 0)[1] == 0
f(torch.ones(2))
"""


def test_a_forked_process_that_ends_as_the_program_does_leaves_the_dump_of_a_check_alone(tmp_path):
    (tmp_path / "checked.py").write_text(CHECKED)
    written = depyf("check", "--write", "checked.py", cwd=tmp_path)
    assert written.stdout == "Wrote depyf-contract.json, the contract of 1 function.\n", written.stderr
    done = depyf("check", "checked.py", cwd=tmp_path)
    assert done.returncode == 0 and done.stdout.startswith("The contract holds: "), done.stdout + done.stderr
