"""Controls real debuggers from tests: pdb over pipes, and debugpy, like an editor, over the debug adapter protocol."""

from __future__ import annotations

import contextlib
import itertools
import json
import queue
import re
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from torch_helpers import ENVIRONMENT

PROGRAM = Path(__file__).with_name("program.py")
TIMEOUT = 300
_PROMPT = "(Pdb) "


class Pdb:
    """A program under pdb. `say` types a line, and returns what pdb answers up to its next prompt or the end."""

    def __init__(self, *arguments, environment=(), python=sys.executable):
        self.process = subprocess.Popen(
            [python, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**ENVIRONMENT, **dict(environment)},
        )
        self.timer = threading.Timer(TIMEOUT, self.process.kill)
        self.timer.start()
        self.greeting = self._answer()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.kill()
        self.process.wait()
        self.timer.cancel()
        self.process.stdin.close()
        self.process.stdout.close()

    def say(self, line):
        self.process.stdin.write(f"{line}\n".encode())
        self.process.stdin.flush()
        return self._answer()

    def _answer(self):
        text = b""
        while not text.endswith(_PROMPT.encode()):
            byte = self.process.stdout.read(1)
            if not byte:
                self.process.wait()
                return text.decode()
            text += byte
        return text.decode().removesuffix(_PROMPT)


def stop(answer):
    """Returns (file, line, function) of the last stop in pdb's output."""
    found = re.findall(r"^> (.*)\((\d+)\)([^()]*)\(\)", answer, re.MULTILINE)
    assert found, f"pdb did not stop: {answer}"
    return found[-1][0], int(found[-1][1]), found[-1][2]


class Adapter:
    """debugpy with a client attached to it: from the start (`launch`), or when the program has compiled everything.

    Args:
        children: True if debugpy patches the Python processes that the program starts. Patched child processes wait
            until the client attaches to them too, which this client never does.
    """

    def __init__(self, *arguments, launch=False, children=False, environment=(), python=sys.executable):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = ["-Xfrozen_modules=off"]
        if launch:
            command += ["-m", "debugpy", "--configure-subProcess", str(children)]
            command += ["--listen", f"127.0.0.1:{port}", "--wait-for-client", *arguments]
        else:
            command += [*arguments, port]
        # The output goes to a file, because the adapter, a process of its own, would keep a pipe open.
        self.printed = tempfile.TemporaryFile()  # noqa: SIM115
        self.process = subprocess.Popen(
            [python, *map(str, command)],
            stdout=self.printed,
            stderr=subprocess.STDOUT,
            env={**ENVIRONMENT, **dict(environment)},
        )
        self.timer = threading.Timer(TIMEOUT, self.process.kill)
        self.timer.start()
        self.connection = self._connect(port)
        self.numbers = itertools.count(1)
        self.messages = queue.Queue()
        self.passed = []
        threading.Thread(target=self._read, daemon=True).start()
        self.request("initialize", adapterID="depyf", linesStartAt1=True, columnsStartAt1=True, pathFormat="path")
        attach = self.send("attach", justMyCode=True, subProcess=False)
        self.event("initialized")
        self.request("configurationDone")
        self.answer(attach)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.timer.cancel()
        self.process.kill()
        self.process.wait()
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)
        self.connection.close()
        self.printed.close()

    def _connect(self, port):
        while True:
            with contextlib.suppress(ConnectionRefusedError):
                return socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT)
            assert self.process.poll() is None, "debugpy did not start"
            threading.Event().wait(0.1)

    def _read(self):
        with contextlib.suppress(OSError, ValueError), self.connection.makefile("rb") as stream:
            while True:
                length = None
                while (line := stream.readline().strip()) or length is None:
                    if not line:
                        self.messages.put(None)
                        return
                    name, _, value = line.partition(b":")
                    if name.lower() == b"content-length":
                        length = int(value)
                self.messages.put(json.loads(stream.read(length)))

    def send(self, command, **arguments):
        number = next(self.numbers)
        message = {"seq": number, "type": "request", "command": command, "arguments": arguments}
        data = json.dumps(message).encode()
        self.connection.sendall(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        return number

    def _wait_for(self, wanted):
        for message in list(self.passed):
            if wanted(message):
                self.passed.remove(message)
                return message
        while True:
            message = self.messages.get(timeout=TIMEOUT)
            assert message is not None, "the debugger has gone"
            if wanted(message):
                return message
            self.passed.append(message)

    def answer(self, number):
        message = self._wait_for(lambda m: m["type"] == "response" and m["request_seq"] == number)
        assert message["success"], message
        return message.get("body", {})

    def request(self, command, **arguments):
        return self.answer(self.send(command, **arguments))

    def event(self, name):
        return self._wait_for(lambda m: m["type"] == "event" and m["event"] == name).get("body", {})

    # The requests that an editor sends.

    def break_at(self, path, line):
        """Sets one breakpoint in a file, which replaces all other breakpoints in the file."""
        answer = self.request("setBreakpoints", source={"path": str(path)}, breakpoints=[{"line": line}])
        (breakpoint_,) = answer["breakpoints"]
        assert breakpoint_["verified"], breakpoint_

    def stopped(self):
        """Waits for the next stop, and returns its (file, line)."""
        self.thread = self.event("stopped")["threadId"]
        self.frame = self.request("stackTrace", threadId=self.thread, levels=1)["stackFrames"][0]
        return self.frame["source"]["path"], self.frame["line"]

    def evaluate(self, expression):
        return self.request("evaluate", expression=expression, frameId=self.frame["id"], context="repl")["result"]

    def next(self):
        self.request("next", threadId=self.thread)
        return self.stopped()

    def resume(self):
        self.request("continue", threadId=self.thread)

    def output(self):
        """Waits for the end of the program. Returns all that the program printed."""
        self.event("terminated")
        self.process.wait(TIMEOUT)
        self.printed.seek(0)
        return self.printed.read().decode()
