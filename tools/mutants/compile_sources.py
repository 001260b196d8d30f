"""Compiles the output of `depyf-mutants --sources`, from standard input, with the interpreter that runs this program.

Prints the sources that do not compile, grouped by message, and exits with 1 if there are any. This program runs with
Python 3.8 and later.
"""

import re
import struct
import sys
import warnings

KEPT = 3  # the number of sources that are printed for each message


def _message(error):
    """Returns the message without names and numbers, so that similar messages count together."""
    text = str(getattr(error, "msg", None) or error)
    return type(error).__name__ + ": " + re.sub(r"'[^']*'|\d+", "_", text)[:120]


def main():
    """Reads and compiles all records, and returns the exit status."""
    warnings.simplefilter("ignore")
    sys.setrecursionlimit(20000)
    failures = {}
    count = 0
    read = sys.stdin.buffer.read
    while True:
        head = read(12)
        if len(head) < 12:
            break
        index, size = struct.unpack("<QI", head)
        source = read(size)
        count += 1
        try:
            compile(source, "<mutant>", "exec", dont_inherit=True)
        except Exception as error:
            line = getattr(error, "lineno", None) or 0
            lines = source.decode("utf-8", "backslashreplace").split("\n")
            shown = lines[line - 1].strip()[:100] if 0 < line <= len(lines) else ""
            failures.setdefault(_message(error), []).append((index, shown))
    wrong = sum(map(len, failures.values()))
    print("%d.%d: %d sources compiled, %d not" % (*sys.version_info[:2], count - wrong, wrong))
    for message, rows in sorted(failures.items(), key=lambda item: -len(item[1])):
        print("  %6d  %s" % (len(rows), message))
        for index, shown in rows[:KEPT]:
            print("          mutant %d: %s" % (index, shown))
    return 1 if wrong else 0


sys.exit(main())
