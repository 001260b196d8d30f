"""Tests depyf.step on ordinary functions: every instruction, the values on the stack, their changes, and that tracing
ends with the block."""

from __future__ import annotations

import sys
import threading
import warnings

import pytest

import depyf
from step.driving import Check, drive, lines_of, ordinary, stepped


@pytest.mark.parametrize("function, arguments", [(ordinary, (3, 0)), (ordinary, (-4, 2)), (drive, (3,))])
def test_every_instruction_of_ordinary_functions(function, arguments):
    plain = function(*arguments)
    check = Check()
    with depyf.step(function, callback=check):
        stepped = function(*arguments)
    assert stepped == plain
    assert check.wrong == []
    # There are at least as many stops as instructions in the functions, because each instruction is reached once, and
    # in loops more often.
    assert check.stops > (200 if function is ordinary else 60) and check.evaluated > (
        100 if function is ordinary else 20
    )
    assert check.functions >= ({"called", "closure"} if function is ordinary else {"generator"})
    assert check.depths == check.stops or sys.version_info[:2] in ((3, 12), (3, 13))


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
    assert result == 9 and "(depyf) 9\n" in out  # the end of the input works like the command q
    assert "*** NameError" in out and "no instruction belongs to line 99" in out and "*** ZeroDivisionError" in out


def test_setting_a_local_takes_effect():
    # x is 10 instead of 1 + 2; the loop then adds 0 + 1, 1 + 1 and 2 + 1
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
    # The first sum is 1 + 100 instead of 1 + 2; the loop then adds 1, 2 and 3.
    result, out = stepped(lines_of, 1, 2, commands=[f"b {op}", "c", "stack[1] = 100", "stack[-3] = 1", "q"])
    assert result == 107
    assert "*** IndexError" in out


def test_what_the_interpreter_relies_on_cannot_be_replaced():
    result, out = stepped(lines_of, 1, 2, commands=["b FOR_ITER", "c", "stack[0] = 5", "q"])
    assert result == 9 and "the interpreter requires a range_iterator" in out
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
    for _ in range(2):  # a second block must have the same stops as the first
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


def test_a_mistyped_command_of_a_callback_is_reported_and_stepping_goes_on():
    answers = iter(["nextt", "b", "b nowhere at all", 7, "c"])
    outputs = []

    def answer(stop):
        outputs.append(list(stop.output))
        return next(answers, None)

    with pytest.warns(UserWarning) as warned, depyf.step(lines_of, callback=answer):
        assert lines_of(1, 2) == 9
    told = [str(one.message) for one in warned]
    assert any("'nextt' of the callback" in one for one in told), told
    assert any("a command cannot be of type" in one and "7" in one for one in told), told
    assert next(answers, "all asked for") == "all asked for"
