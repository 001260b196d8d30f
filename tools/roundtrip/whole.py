#!/usr/bin/env python3
"""Proves the source of every module of the packages in a list, for each interpreter at hand.

    whole.py --versions 3.12 --candidates tools/roundtrip/more_packages.txt

Downloads the packages as world.py does, compiles all of their files, and runs `depyf-decompile --prove` on them.
Prints the counts for each version, and lists each file with a mark or with code that is not proved. With --keep, the
.pyc files, the sources and the reports stay in a folder, so that two versions of the command can be compared. Takes
about four minutes for each version with more_packages.txt.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import world
from interpreters import add_versions_option, at_hand, compile_files

POOL = world.POOLS[-1][1]  # the newest releases that support this version are taken


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_versions_option(parser)
    parser.add_argument(
        "--candidates",
        type=Path,
        default=world.HERE / "more_packages.txt",
        help="the file that names the packages (default: %(default)s)",
    )
    parser.add_argument("--command", default=world.COMMAND, help="the path of depyf-decompile (default: %(default)s)")
    parser.add_argument("--keep", type=Path, help="write all files to this folder, and keep the folder")
    args = parser.parse_args()
    # All versions get the same files. A version leaves out the files that need a newer Python.
    root = world.CACHE / POOL
    files = world.sources(world.fetch(args.candidates.read_text().split(), POOL, sys.executable))
    for name, _, python in at_hand(args.versions):
        with tempfile.TemporaryDirectory() as scratch:
            work = (args.keep or Path(scratch)) / name
            (work / "pyc").mkdir(parents=True, exist_ok=True)
            compile_files(python, [str(file) for file in files], work / "pyc")
            command = [
                args.command,
                "-q",
                "--prove",
                "--json",
                "--force",
                "-o",
                str(work / "sources"),
                str(work / "pyc"),
            ]
            answer = subprocess.run(command, stdout=subprocess.PIPE, check=False)
            report = json.loads(answer.stdout)
            (work / "report.json").write_bytes(answer.stdout)
        counts = report["counts"]
        print(
            f"{name}: {counts['files']} files, {counts['failed']} failed, {counts['marked']} marked, "
            f"{counts['state_machines']} state machines, {counts['stubs']} stubs; {counts['proved']} code objects proved, "
            f"{counts['not_proved']} not",
            flush=True,
        )
        for file in report["files"]:
            source = files[int(Path(file["file"]).stem)].relative_to(root)
            for mark in file["marks"]:
                print(f"  {source}, line {mark['line']}: {mark['what']}")
            for code in file["not_proved"]:
                print(f"  {source}: {code['name']}: not proved: {code['reason']}")
            if file["error"]:
                print(f"  {source}: {file['error']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
