"""depyf.step on ordinary functions: every instruction, what is on the stack, setting it, and leaving nothing behind."""

from __future__ import annotations

import io
import sys
import threading
import warnings

import pytest

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
    """A callback that holds each stop against what CPython has, and against the expressions evaluated again."""

    def __init__(self):
        self.stops = self.depths = self.evaluated = 0
        self.functions = set()
        self.wrong = []

    def __call__(self, stop):
        self.stops += 1
        self.functions.add(stop.code.co_name)
        own = _core.frame_depth(stop.frame)  # 3.12 and 3.13 keep it in a register
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


@pytest.mark.parametrize("function, arguments", [(ordinary, (3, 0)), (ordinary, (-4, 2)), (drive, (3,))])
def test_every_instruction_of_ordinary_functions(function, arguments):
    plain = function(*arguments)
    check = Check()
    with depyf.step(function, callback=check):
        stepped = function(*arguments)
    assert stepped == plain
    assert check.wrong == []
    # As many as the functions have instructions, loops aside: each at least once.
    assert check.stops > (200 if function is ordinary else 60) and check.evaluated > (
        100 if function is ordinary else 20
    )
    assert check.functions >= ({"called", "closure"} if function is ordinary else {"generator"})
    assert check.depths == check.stops or sys.version_info[:2] in ((3, 12), (3, 13))


def stepped(function, *arguments, commands):
    """What the function returns, and what a prompt that reads the commands prints."""
    out = io.StringIO()
    with depyf.step(function, stdin=io.StringIO("\n".join(commands) + "\n"), stdout=out):
        result = function(*arguments)
    return result, out.getvalue()


def lines_of(a, b):
    x = a + b
    for i in range(3):
        x = x + called(i)
    return x


def test_the_prompt_steps_breaks_watches_and_quits():
    result, out = stepped(
        lines_of,
        1,
        2,
        commands=["n", "p x", "b 4, i == 1", "c", "p (i, x)", "cl 1", "b called", "c", "p x", "u", "p i", "r", "q"],
    )
    assert result == 9
    assert "[entry] lines_of" in out and "->    2      x = a + b" in out
    assert "(depyf) 3\n" in out and "(depyf) (1, 4)\n" in out
    assert "[breakpoint 2] called" in out and "(depyf) 1\n" in out
    result, out = stepped(lines_of, 1, 2, commands=["watch x", "c", "c", "q"])
    assert result == 9 and "[watch x: nothing -> 3]" in out and "[watch x: 3 -> 4]" in out
    result, out = stepped(
        lines_of, 1, 2, commands=["b BINARY_ADD" if sys.version_info < (3, 11) else "b BINARY_OP", "c", "stack", "q"]
    )
    assert result == 9 and "stack[1]: b  is  2" in out and "stack[0]: a  is  1" in out
    result, out = stepped(lines_of, 1, 2, commands=["until 5", "p x", "nonsense", "b 99", "p 1 / 0"])
    assert result == 9 and "(depyf) 9\n" in out  # the end of the input is a q
    assert "*** NameError" in out and "no instruction belongs to line 99" in out and "*** ZeroDivisionError" in out


def test_setting_a_local_takes_effect():
    # x = 1 + 2 becomes 10; then 0 + 1, 1 + 1, 2 + 1 are added
    result, _ = stepped(lines_of, 1, 2, commands=["n", "x = 10", "q"])
    assert result == 16


def closed(a):
    def inner():
        return a

    a = a + 1
    return inner() * 2


def test_setting_a_cell_takes_effect():
    result, out = stepped(closed, 1, commands=["b RETURN_VALUE", "tbreak inner", "c", "u", "cells", "d", "a = 21", "q"])
    assert result == 42 and "a = 2" in out


def test_setting_a_slot_of_the_stack_takes_effect():
    op = "BINARY_ADD" if sys.version_info < (3, 11) else "BINARY_OP"
    # 1 + 2 becomes 1 + 100; 1 + 2 + 3 are added
    result, out = stepped(lines_of, 1, 2, commands=[f"b {op}", "c", "stack[1] = 100", "stack[-3] = 1", "q"])
    assert result == 107
    assert "*** IndexError" in out


def test_what_the_interpreter_relies_on_cannot_be_replaced():
    result, out = stepped(lines_of, 1, 2, commands=["b FOR_ITER", "c", "stack[0] = 5", "q"])
    assert result == 9 and "the interpreter relies on a range_iterator" in out
    if sys.version_info >= (3, 11):
        null = 0 if sys.version_info < (3, 13) else 1
        result, out = stepped(lines_of, 1, 2, commands=["b CALL", "c", f"stack[{null}] = 5", "q"])
        assert result == 9 and "holds NULL" in out


def state():
    if sys.version_info >= (3, 12):
        return sys.gettrace(), [sys.monitoring.get_tool(tool) for tool in range(6)]
    return sys.gettrace(), []


def test_a_raising_callback_harms_nobody():
    def raising(stop):
        raise LookupError("of the callback")

    before = state()
    with pytest.warns(UserWarning, match="LookupError: of the callback"), depyf.step(lines_of, callback=raising):
        assert lines_of(1, 2) == 9
    assert state() == before


def test_an_exception_of_the_program_goes_through():
    before = state()
    with pytest.raises(TypeError), depyf.step(lines_of, callback=lambda stop: None):
        lines_of(1, None)
    assert state() == before
    check = Check()
    for _ in range(2):  # two blocks in a row stop in the same way
        with depyf.step(lines_of, callback=check):
            assert lines_of(1, 2) == 9
        first, check = check, Check()
    with depyf.step(lines_of, callback=check):
        lines_of(1, 2)
    assert first.stops == check.stops > 10
    assert state() == before


def test_a_tracer_that_was_there_is_there_again():
    def tracer(frame, event, argument):
        return None

    outer = sys.gettrace()
    sys.settrace(tracer)
    try:
        with depyf.step(lines_of, callback=lambda stop: "q"):
            assert lines_of(1, 2) == 9
        assert sys.gettrace() is tracer
    finally:
        sys.settrace(outer)


def test_other_threads_run_on():
    stops, results = [], []

    def callback(stop):
        stops.append(threading.get_ident())
        if len(stops) == 3:
            other = threading.Thread(target=lambda: results.append(lines_of(1, 2)))
            other.start()
            other.join()

    with depyf.step(lines_of, callback=callback):
        assert lines_of(1, 2) == 9
    assert results == [9] and set(stops) == {threading.get_ident()}


def test_blocks_do_not_nest():
    with depyf.step(lines_of, callback=lambda stop: "q"), pytest.raises(RuntimeError, match="already"), depyf.step():
        pass
    with pytest.raises(TypeError):
        depyf.step(len)


def test_nothing_is_warned_of_without_a_reason():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with depyf.step(
            ordinary, callback=lambda stop: ["locals", "stack", "block", "w", "dis", "l"] * (stop.offset == 20) + ["si"]
        ):
            ordinary(1, 2)
