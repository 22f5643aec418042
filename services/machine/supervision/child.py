"""A running process of ours: its own process group, its own log file, never without its parent."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from services.machine.problems import MachineProblem
from services.machine.supervision.cores import ALL, Cores
from services.machine.supervision.programs import Program
from services.machine.waiting import wait_until

LEASH = Path(__file__).with_name("leash.py")
KILL_TIMEOUT_SECONDS = 10.0


@dataclass(frozen=True)
class Child:
    """A started program."""

    program: Program
    process: subprocess.Popen[bytes]

    @property
    def exit_code(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        return self.process.poll()

    @property
    def group(self) -> int:
        """The process group of the program and of all that it starts."""
        return self.process.pid

    def ask_to_stop(self) -> None:
        """Send the program its stop signal; a program that has ended needs none."""
        if self.exit_code is None:
            self.process.send_signal(self.program.stop_signal)

    def kill(self) -> None:
        """Kill the program, and do not wait for its end."""
        if self.exit_code is None:
            self.process.kill()

    def end(self, timeout_seconds: float) -> None:
        """Wait for the end at most this long, then kill; nothing of its group is left after.

        But what waits for a disk that does not answer: that dies when it does, and not before.
        """
        try:
            self.process.wait(timeout_seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(KILL_TIMEOUT_SECONDS)
        finally:
            _kill_group(self.group)

    def stop(self) -> None:
        """Ask to stop and see it through."""
        self.ask_to_stop()
        self.end(self.program.stop_timeout_seconds)


def leashed(
    command: Sequence[str],
    death_signal: signal.Signals,
    ordinary_user: bool = False,
    cores: Cores = ALL,
) -> list[str]:
    """Return the command that runs `command` tied to this process."""
    user = ["--ordinary-user"] if ordinary_user else []
    kept = ["--cores", ",".join(map(str, sorted(cores)))] if cores else []
    tie = [str(os.getpid()), str(int(death_signal))]
    return [sys.executable, "-I", "-S", str(LEASH), *user, *kept, *tie, *command]


def start(program: Program, log_file: Path, inherited: Mapping[str, str]) -> Child:
    """Start a program over the base environment `inherited`, its output appended to `log_file`.

    Must be called from the main thread: on Linux the leash is tied to the thread that starts it.
    """
    log_file.parent.mkdir(parents=True, exist_ok=True)
    if program.scratch is not None:
        shutil.rmtree(program.scratch, ignore_errors=True)
        program.scratch.mkdir(parents=True, exist_ok=True)
    with log_file.open("ab") as output:
        process = subprocess.Popen(
            leashed(program.command, program.death_signal, program.ordinary_user, program.cores),
            env={**inherited, **program.environment},
            stdin=subprocess.DEVNULL,
            stdout=None if program.on_terminal else output,
            stderr=output,
            start_new_session=True,
        )
    return Child(program, process)


def start_and_wait(program: Program, log_file: Path, inherited: Mapping[str, str]) -> Child:
    """Start a program and return once it is ready.

    Raises MachineProblem, with the program ended, where it ends first or is not ready in time.
    """
    child = start(program, log_file, inherited)
    try:
        wait_ready(child, log_file)
    except BaseException:
        child.end(0)
        raise
    return child


def wait_ready(child: Child, log_file: Path) -> None:
    """Return once a started program is ready.

    Raises MachineProblem where it ends first or is not ready in time.
    """
    program, readiness = child.program, child.program.readiness
    wait_until(
        lambda: child.exit_code is not None or readiness is None or readiness.is_ready(),
        program.ready_timeout_seconds,
        f"{program.name} is not ready; read {log_file}",
    )
    if child.exit_code is not None:
        raise MachineProblem(f"{program.name} ended at once; read {log_file}")


def _kill_group(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
