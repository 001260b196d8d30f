"""Steps through every instruction of ordinary functions, and checks each stop; can also be run as a program: driving.py

As a program, this file needs only depyf, so it runs under every interpreter that has an extension.
"""

from __future__ import annotations

import io
import sys

import depyf
from depyf import _core
from depyf.stepper import NULL
from slot_evaluation import NotFree, evaluate, same


def called(x):
    return x + 1


def ordinary(a, b):
    """Loops, try, with, generators, closures: what a stack is used for."""
    from contextlib import nullcontext

    total = a * 2
    for i in range(3):
        total += called(i)
        while total > 100:
            total -= 50
    try:
        total = total / b
    except ZeroDivisionError as error:
        total = len(str(error))
    finally:
        a = -a
    with nullcontext(a) as inner:
        total += inner if inner > 0 or b else 1
    squares = [x * total for x in (y for y in range(3)) if x % 2 == 0]
    kept = {"a": a, **{str(i): i for i in squares}}

    def closure(z, *rest, **named):
        nonlocal total
        total += z
        return f"{z!r} {rest} {named}"

    first, *others = squares
    words = closure(1, *others, key=first)
    return total, squares, kept, words, a if a else b, a < b < 10


def generator(n):
    try:
        for i in range(n):
            got = yield i * 2
            if got:
                yield from (got, i)
    finally:
        n = None


def drive(n):
    made = generator(n)
    out = [next(made), made.send("x")]
    return out + list(made)


class Check:
    """A callback that compares the stack at each stop with CPython's own values, and with the values of the slots'
    expressions, which it evaluates."""

    def __init__(self):
        self.stops = self.depths = self.evaluated = 0
        self.functions = set()
        self.wrong = []

    def __call__(self, stop):
        self.stops += 1
        self.functions.add(stop.code.co_name)
        own = _core.frame_depth(stop.frame)  # None in 3.12 and 3.13, which keep the depth in a register
        if own is not None:
            self.depths += 1
        if stop.depth < 0 or (own is not None and own != stop.depth):
            self.wrong.append((stop.function, stop.offset, "depth", stop.depth, own))
        for slot in stop.stack:
            if (slot.value is NULL) != (slot.expression == "NULL"):
                self.wrong.append((stop.function, stop.offset, slot.expression))
            if not slot.current:
                continue
            try:
                got = evaluate(slot.expression, stop.evaluate)
            except NotFree:
                continue
            self.evaluated += 1
            if not same(got, slot.value):
                self.wrong.append((stop.function, stop.offset, slot.expression, got, slot.value))


def stepped(function, *arguments, commands):
    """Returns the result of the function, and the output of a prompt that reads the commands."""
    out = io.StringIO()
    with depyf.step(function, stdin=io.StringIO("\n".join(commands) + "\n"), stdout=out):
        result = function(*arguments)
    return result, out.getvalue()


def lines_of(a, b):
    x = a + b
    for i in range(3):
        x = x + called(i)
    return x


def tools():
    """Returns (the trace function, the tools of sys.monitoring by their ids)."""
    monitoring = getattr(sys, "monitoring", None)
    return sys.gettrace(), [monitoring.get_tool(tool) for tool in range(6)] if monitoring is not None else []


def main():
    before = tools()
    for function, arguments in ((ordinary, (3, 0)), (ordinary, (-4, 2)), (drive, (3,))):
        plain = function(*arguments)
        check = Check()
        with depyf.step(function, callback=check):
            result = function(*arguments)
        assert result == plain, (result, plain)
        assert check.wrong == [], check.wrong
        assert check.stops > 60 and check.evaluated > 20, (check.stops, check.evaluated)
        assert check.depths == check.stops or sys.version_info[:2] in ((3, 12), (3, 13))
        print(
            function.__name__, check.stops, "stops,", check.depths, "depths,", check.evaluated, "slots evaluated again"
        )
    # Sets a local and a slot; the expected result is computed by hand in test_step.py.
    assert stepped(lines_of, 1, 2, commands=["n", "x = 10", "q"])[0] == 16
    op = "BINARY_ADD" if sys.version_info < (3, 11) else "BINARY_OP"
    assert stepped(lines_of, 1, 2, commands=[f"b {op}", "c", "stack[1] = 100", "q"])[0] == 107
    result, out = stepped(lines_of, 1, 2, commands=["b 4, i == 1", "c", "p (i, x)", "until 5", "p x", "q"])
    assert result == 9 and "(depyf) (1, 4)" in out and "(depyf) 9\n" in out, out
    assert tools() == before
    print("OK")


if __name__ == "__main__":
    main()
