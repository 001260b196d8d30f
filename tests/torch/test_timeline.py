"""Tests of the events of PyTorch's timeline that a session records. The programs run in processes of their own, because
pytest's handlers of log records would change how depyf receives the events."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from depyf.compat import trace
from torch_helpers import ENVIRONMENT

COMPILING = """
import json, logging, os, sys, warnings
import torch
import depyf
from depyf.compat import trace

warnings.simplefilter("ignore")

def compile_once(number):
    torch._dynamo.reset()
    torch.compile(lambda x: x * number, backend="eager")(torch.zeros(3))

"""


def _run(program: str, *arguments: object):
    """Runs a program and returns what it prints, which is JSON."""
    command = [sys.executable, "-c", COMPILING + program, *map(str, arguments)]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(autouse=True)
def _has_timeline():
    if not trace.has_records():
        pytest.skip("this PyTorch has no structured trace")


def test_each_block_has_the_events_of_its_own_time(tmp_path):
    program = """
compile_once(1)
with depyf.prepare_debug(sys.argv[1] + "/outer") as outer:
    compile_once(2)
    with depyf.prepare_debug(sys.argv[1] + "/inner") as inner:
        compile_once(3)
    compile_once(4)
print(json.dumps([[[event.name, event.microseconds] for event in each.phase_events] for each in (outer, inner)]))
"""
    outer, inner = _run(program, tmp_path)
    assert [name for name, _ in inner].count("entire_frame_compile") == 2  # its beginning and its end
    assert [name for name, _ in outer] == 3 * [name for name, _ in inner]
    times = [time for _, time in outer]
    assert times == sorted(times)


def test_a_compilation_calls_depyf_once_for_many_events(tmp_path):
    """A call that Dynamo must not compile takes several microseconds, and a compilation has hundreds of events."""
    program = """
batches = []
add = trace.add_trace_handler

def add_trace_handler(receive, receive_events, **options):
    def received(events):
        batches.append(len(events))
        receive_events(events)
    return add(receive, received, **options)

trace.add_trace_handler = add_trace_handler
with depyf.prepare_debug(sys.argv[1]) as session:
    compile_once(5)
print(json.dumps([batches, len(session.phase_events)]))
"""
    batches, events = _run(program, tmp_path)
    assert sum(batches) == events > 2 * len(batches)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_child_does_not_repeat_the_events_of_its_parent():
    program = """
events = []
remove = trace.add_trace_handler(lambda record: None, events.extend)
(handler,) = [each for each in logging.getLogger("torch.__trace").handlers if hasattr(each, "pending")]
handler.pending.append((os.getpid(), lambda: {"ph": "B", "name": "of the parent", "ts": 1.0}))
child = os.fork()
if child == 0:
    trace.flush()
    os._exit(len(events))
in_child = os.waitpid(child, 0)[1]
trace.flush()
print(json.dumps([in_child, [event.name for event in events]]))
"""
    assert _run(program) == [0, ["of the parent"]]


def test_an_event_that_cannot_be_read_costs_no_other_event():
    program = """
def broken():
    raise ValueError("no event")

events = []
remove = trace.add_trace_handler(lambda record: None, events.extend)
(handler,) = [each for each in logging.getLogger("torch.__trace").handlers if hasattr(each, "pending")]
for payload in (lambda: {"ph": "B", "name": "first", "ts": 1.0}, broken, lambda: {"ph": "E", "name": "last", "ts": 2.0}):
    handler.pending.append((os.getpid(), payload))
trace.flush()
print(json.dumps([event.name for event in events]))
"""
    assert _run(program) == ["first", "last"]
