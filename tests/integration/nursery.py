"""Real processes without the second that Python takes to import a program.

A nursery is an interpreter that has imported what our programs share, and runs none of them. For
each process asked for it forks; the child gets its own environment, log and arguments, and runs the
module as `python -m` does. What happens to a child (signals, exit codes) is real.

`python -m tests.integration.nursery FD` is the nursery; it ends when the socket FD is closed.
"""

import atexit
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from io import BufferedRWPair
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[2]
_SHARED: Final = (
    "services.backbone.service",
    "services.callbacks.app",
    "services.deliverer.command_line",
    "services.deliverer.program",
    "services.deliverer.wiring",
    "httpx2",
)


@dataclass
class Child:
    """A process of the nursery, with what tests use of `subprocess.Popen`."""

    pid: int
    nursery: "Nursery"
    returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal, or None while it runs."""
        if self.returncode is None:
            self.returncode = self.nursery.ask({"ended": self.pid})["code"]
        return self.returncode

    def wait(self, timeout: float) -> int:
        """Wait for the end.

        Raises:
            TimeoutExpired: it runs still.
        """
        deadline = time.monotonic() + timeout
        while (code := self.poll()) is None:
            if time.monotonic() >= deadline:
                raise subprocess.TimeoutExpired(str(self.pid), timeout)
            time.sleep(0.01)
        return code

    def send_signal(self, number: signal.Signals) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


@dataclass
class Nursery:
    """The test's side."""

    lines: BufferedRWPair
    process: "subprocess.Popen[bytes]"
    lock: threading.Lock = field(default_factory=threading.Lock)

    def start(
        self,
        module: str,
        arguments: tuple[str, ...],
        environment: dict[str, str],
        log: Path,
        output: Path | None = None,
    ) -> Child:
        """Start `python -m module` with this whole environment; its errors go to the log."""
        log.touch()
        asked = {
            "module": module,
            "arguments": arguments,
            "environment": environment,
            "log": str(log),
            "output": output and str(output),
        }
        return Child(self.ask(asked)["pid"], self)

    def ask(self, what: Mapping[str, object]) -> dict[str, Any]:
        with self.lock:
            self.lines.write(json.dumps(what).encode() + b"\n")
            self.lines.flush()
            answer: dict[str, Any] = json.loads(self.lines.readline())
        return answer

    def end(self) -> None:
        self.lines.close()
        self.process.wait(30)


@cache
def nursery() -> Nursery:
    """Return the one of this test run; it ends with it."""
    ours, theirs = socket.socketpair()
    with theirs:
        number = theirs.fileno()
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.integration.nursery", str(number)],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            pass_fds=[number],
        )
    made = Nursery(ours.makefile("rwb"), process)
    ours.close()
    atexit.register(made.end)
    return made


def serve(asked: BufferedRWPair) -> dict[str, Any]:
    """Answer until the test run ends; in each child, return what that child is to do."""
    for line in asked:
        what = json.loads(line)
        if "ended" in what:
            _say(asked, {"code": _ended(what["ended"])})
        elif pid := os.fork():
            _say(asked, {"pid": pid})
        else:
            order: dict[str, Any] = what
            return order
    sys.exit(0)


def become(order: dict[str, Any]) -> None:
    """Run the module as if this interpreter had been started for it."""
    _write_to(order["log"], sys.stderr.fileno())
    if order["output"]:
        _write_to(order["output"], sys.stdout.fileno())
    os.environ.clear()
    os.environ.update(order["environment"])
    sys.argv[1:] = order["arguments"]
    runpy.run_module(order["module"], run_name="__main__", alter_sys=True)


def _write_to(path: str, stream: int) -> None:
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.dup2(file, stream)
    os.close(file)


def _say(asked: BufferedRWPair, what: Mapping[str, object]) -> None:
    asked.write(json.dumps(what).encode() + b"\n")
    asked.flush()


def _ended(pid: int) -> int | None:
    found, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if found else None


def main(number: int) -> None:
    for each in _SHARED:
        import_module(each)
    with socket.socket(fileno=number) as talk, talk.makefile("rwb") as asked:
        order = serve(asked)
    become(order)


if __name__ == "__main__":
    main(int(sys.argv[1]))
