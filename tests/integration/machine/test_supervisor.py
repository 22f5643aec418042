"""The supervisor on real processes: whatever ends it, nothing it started is left running."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

import pytest

from services.machine.supervision.programs import Program
from services.machine.supervision.readiness import TcpReadiness
from services.machine.supervision.restarts import RestartPolicy
from services.machine.supervision.supervisor import Supervisor, Surroundings
from services.machine.waiting import now_seconds, wait_until
from tests.integration.machine.marks import marked, none_is_left

ROOT = Path(__file__).parents[3]
DEADLINE_SECONDS = 20
ENDINGS = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL]


@contextmanager
def running(
    home: Path, mark: str, output: IO[bytes] | int = subprocess.PIPE, under: tuple[str, ...] = ()
) -> Iterator[subprocess.Popen[str]]:
    module = "tests.integration.machine.light"
    command = [*under, sys.executable, "-m", module, str(home), mark]
    errors = None if output == subprocess.PIPE else subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=errors, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def read_until(process: subprocess.Popen[str], expected: str) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if expected in line:
            return
    pytest.fail(f"the supervisor ended without saying {expected!r}")


@pytest.mark.timeout(300)
@pytest.mark.long
def test_twenty_endings_leave_nothing_running_and_nothing_half_written(
    tmp_path: Path, mark: str
) -> None:
    for number in range(20):
        ending = ENDINGS[number % len(ENDINGS)]
        with running(tmp_path / "home", mark) as process:
            read_until(process, "ready")
            if number % 5 == 0:
                os.kill(marked(mark, "sleep " + mark)[-1], signal.SIGKILL)
            process.send_signal(ending)
            code = process.wait(DEADLINE_SECONDS)
        assert code == (-signal.SIGKILL if ending is signal.SIGKILL else 0)
        wait_until(lambda: not marked(mark), DEADLINE_SECONDS, f"left after {ending.name}")


def test_a_killed_program_is_started_again(tmp_path: Path, mark: str) -> None:
    with running(tmp_path / "home", mark) as process:
        read_until(process, "ready")
        before = marked(mark, "sh -c")
        os.kill(before[0], signal.SIGKILL)
        read_until(process, "family ended with signal 9; it starts again in")
        wait_until(
            lambda: bool(set(marked(mark, "sh -c")) - set(before)),
            DEADLINE_SECONDS,
            "not restarted",
        )
        process.terminate()
        assert process.wait(DEADLINE_SECONDS) == 0
    none_is_left(mark)


def test_below_nohup_a_hang_up_ends_nothing(tmp_path: Path, mark: str) -> None:
    with running(tmp_path / "home", mark, under=("nohup",)) as process:
        read_until(process, "ready")
        process.send_signal(signal.SIGHUP)
        os.kill(marked(mark, "sh -c")[0], signal.SIGKILL)
        read_until(process, "family ended with signal 9; it starts again in")
        process.terminate()
        assert process.wait(DEADLINE_SECONDS) == 0
    none_is_left(mark)


@pytest.fixture(params=["full", "broken"])
def unread(request: pytest.FixtureRequest) -> Iterator[IO[bytes]]:
    """What stands behind `make run > log` on a full disk, and `make run | tee` whose tee ended."""
    if request.param == "full" and not Path("/dev/full").exists():
        pytest.skip("the system has no /dev/full")
    reader, writer = os.pipe()
    os.close(reader)
    with open("/dev/full" if request.param == "full" else writer, "wb") as output:
        yield output


def test_that_nobody_can_read_it_ends_nothing(tmp_path: Path, mark: str, unread: IO[bytes]) -> None:
    def families() -> set[int]:
        return set(marked(mark, "sh -c"))

    with running(tmp_path / "home", mark, output=unread) as process:
        wait_until(lambda: bool(families()), DEADLINE_SECONDS, "not started")
        before = families()
        os.kill(min(before), signal.SIGKILL)
        wait_until(lambda: bool(families() - before), DEADLINE_SECONDS, "not restarted")
        process.terminate()
        _, complaint = process.communicate(timeout=DEADLINE_SECONDS)
    assert (process.returncode, complaint) == (0, "")
    none_is_left(mark)


@dataclass(frozen=True)
class Outcome:
    code: int
    said: list[str]


THREE = RestartPolicy(crashes_in_a_row_limit=3, first_pause_seconds=0.01)


def supervise(
    programs: tuple[Program, ...], logs: Path, stop: threading.Event, policy: RestartPolicy = THREE
) -> Outcome:
    said: list[str] = []
    around = Surroundings(os.environ, logs, said.append, stop.wait, now_seconds)
    return Outcome(Supervisor(programs, around, policy, stop.set).run(), said)


def test_after_crashes_in_a_row_it_says_which_log_to_read_and_ends_all(
    tmp_path: Path, mark: str
) -> None:
    programs = (
        Program("fine", ("sleep", mark)),
        Program("broken", ("sh", "-c", "echo why; exit 3"), after=("fine",), readiness=never()),
    )
    outcome = supervise(programs, tmp_path, threading.Event())
    assert outcome.code == 1
    assert len(outcome.said) == 3
    assert "broken ended with exit code 3; it starts again in 0.01 s" in outcome.said[0]
    assert "3 times in a row: read " + str(tmp_path / "broken.log") in outcome.said[-1]
    assert (tmp_path / "broken.log").read_text("utf-8") == "why\n" * 3
    none_is_left(mark)


def until_all_serve(folder: Path) -> str:
    """Return what lets a program's first run last, however late a busy machine sees it serve."""
    return f"until test -f {folder}/served; do sleep 0.05; done"


def when_all_serve(folder: Path) -> Callable[[], None]:
    """Return what a supervisor is to do when it has seen all serve, to end these first runs."""
    return (folder / "served").touch


def seven_lines_of(programs: tuple[Program, ...], folder: Path) -> list[str]:
    """Supervise until so much was said, and end in good order; twice as many crashes as allowed."""
    enough, said = threading.Event(), list[str]()

    def say(line: str) -> None:
        said.append(line)
        if len(said) > 6:
            enough.set()

    around = Surroundings(os.environ, folder, say, enough.wait, now_seconds)
    assert Supervisor(programs, around, THREE, when_all_serve(folder)).run() == 0
    return said


def test_what_has_served_once_is_started_again_however_often_it_crashes(
    tmp_path: Path, mark: str
) -> None:
    """A broker with a full disk must not end those that serve without it."""
    tries = tmp_path / "tries"
    script = f"test -f {tries} && exit 1; touch {tries}; {until_all_serve(tmp_path)}; exit 1"
    programs = (Program("fine", ("sleep", mark)), Program("full", ("sh", "-c", script)))
    said = seven_lines_of(programs, tmp_path)
    assert all("full ended with exit code 1; it starts again in" in line for line in said[:6])


def test_what_starts_again_does_not_wait_for_what_is_away(tmp_path: Path) -> None:
    """One of two that watch the same must not wait for the other, which perhaps never comes."""
    runs, enough, said = tmp_path / "runs", threading.Event(), list[str]()

    def say(line: str) -> None:
        said.append(line)
        if runs.is_file() and runs.read_text().count("again") == 2:
            enough.set()

    around = Surroundings(os.environ, tmp_path, say, enough.wait, now_seconds)
    gone, away = tmp_path / "gone", tmp_path / "away"
    first = f"test -f {gone} && touch {away}; touch {gone}; {until_all_serve(tmp_path)}; exit 1"
    second = f"echo again >> {runs}; until test -f {away}; do sleep 0.05; done; exit 1"
    programs = (
        Program("first", ("sh", "-c", first), ready_timeout_seconds=5),
        Program("second", ("sh", "-c", second), after=("first",)),
    )
    policy = RestartPolicy(crashes_in_a_row_limit=9, first_pause_seconds=0.01)
    assert Supervisor(programs, around, policy, when_all_serve(tmp_path)).run() == 0


def test_a_program_that_refuses_its_settings_is_not_tried_again(tmp_path: Path) -> None:
    programs = (Program("strict", ("sh", "-c", "exit 78"), readiness=never()),)
    outcome = supervise(programs, tmp_path, threading.Event())
    assert outcome.code == 1
    assert len(outcome.said) == 1
    assert "strict refused its settings" in outcome.said[0]


def test_what_has_served_and_then_refuses_is_tried_again(tmp_path: Path, mark: str) -> None:
    """A file that is bad meanwhile must not end those that go on with what they have read."""
    runs = tmp_path / "runs"
    script = f"test -f {runs} && exit 78; touch {runs}; {until_all_serve(tmp_path)}; exit 1"
    programs = (Program("fine", ("sleep", mark)), Program("strict", ("sh", "-c", script)))
    said = seven_lines_of(programs, tmp_path)
    again = "strict refused its settings or its input; it starts again in"
    assert all(again in line for line in said[1:6])
    none_is_left(mark)


def test_a_program_that_is_never_ready_counts_as_crashed(tmp_path: Path, mark: str) -> None:
    slow = Program("slow", ("sleep", mark), readiness=never(), ready_timeout_seconds=0.2)
    policy = replace(THREE, stable_seconds=0.1)
    outcome = supervise((slow,), tmp_path, threading.Event(), policy)
    assert outcome.code == 1
    assert "slow was not ready within 0.2 s, 3 times in a row" in outcome.said[-1]
    none_is_left(mark)


def test_each_start_in_a_row_of_what_has_served_may_take_longer(tmp_path: Path, mark: str) -> None:
    enough, said = threading.Event(), list[str]()
    closed, begun = tmp_path / "closed", tmp_path / "begun"

    def say(line: str) -> None:
        said.append(line)
        if len(said) == 5:
            enough.set()

    # Only its first start ends by itself, however late that is in seeing that it has served.
    first = f"touch {begun}; until test -f {closed}; do sleep 0.05; done"
    script = f"if test -f {begun}; then exec sleep {mark}; else {first}; fi"
    slow = Program(
        "slow",
        ("sh", "-c", script),
        readiness=NotThere(closed),
        ready_timeout_seconds=0.1,
    )
    around = Surroundings(os.environ, tmp_path, say, enough.wait, now_seconds)
    assert Supervisor((slow,), around, THREE, closed.touch).run() == 0
    limits = [line.partition(" within ")[2].partition(";")[0] for line in said[1:5]]
    assert limits == ["0.2 s", "0.4 s", "0.8 s", "0.8 s"]
    none_is_left(mark)


def test_a_task_that_fails_is_repeated_and_holds_back_what_needs_it(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    script = f"test -f {seen} || {{ touch {seen}; exit 1; }}"
    programs = (
        Program("task", ("sh", "-c", script), once=True),
        Program("next", ("sh", "-c", f"test -f {seen} && sleep 60"), after=("task",)),
    )
    outcome = supervise(programs, tmp_path / "log", threading.Event())
    assert outcome.code == 0
    assert ["task ended with exit code 1" in line for line in outcome.said] == [True, False]
    assert outcome.said[-1] == "stopping"


def test_a_program_that_ignores_being_asked_is_killed(tmp_path: Path, mark: str) -> None:
    deaf = f"trap '' TERM; echo deaf; while :; do sleep {mark}; done"
    program = Program("deaf", ("sh", "-c", deaf), stop_timeout_seconds=0.3)
    log = tmp_path / "deaf.log"
    stop = threading.Event()
    said: list[str] = []

    def wait(seconds: float) -> bool:
        stop.wait(seconds)
        return log.exists() and "deaf" in log.read_text("utf-8") and not said

    around = Surroundings(os.environ, tmp_path, said.append, wait, now_seconds)
    assert Supervisor((program,), around, RestartPolicy(), lambda: None).run() == 0
    assert said == ["stopping", "deaf did not end when asked: killed"]
    none_is_left(mark)


def test_a_second_signal_stops_waiting_for_all_that_is_left(
    tmp_path: Path, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.machine.supervision.supervisor.HURRY_AFTER_SECONDS", 0.0)
    deaf = ("sh", "-c", f"trap '' TERM; echo deaf; while :; do sleep {mark}; done")
    programs = (Program("first", deaf), Program("second", deaf, after=("first",)))
    logs = [tmp_path / f"{each.name}.log" for each in programs]
    said: list[str] = []
    signals = iter([True, True])

    def wait(seconds: float) -> bool:
        threading.Event().wait(seconds)
        are_deaf = all(log.exists() and "deaf" in log.read_text("utf-8") for log in logs)
        return are_deaf and next(signals)  # it is not asked a third time

    around = Surroundings(os.environ, tmp_path, said.append, wait, now_seconds)
    assert Supervisor(programs, around, RestartPolicy(), lambda: None).run() == 0
    assert said[1:] == [f"{name} did not end when asked: killed" for name in ("second", "first")]
    none_is_left(mark)


def test_a_program_that_does_not_exist_says_so_in_its_log(tmp_path: Path) -> None:
    programs = (Program("absent", ("no-such-program",), readiness=never()),)
    assert supervise(programs, tmp_path, threading.Event()).code == 1
    assert "no-such-program cannot be started" in (tmp_path / "absent.log").read_text("utf-8")


def test_what_cannot_be_started_just_now_is_tried_again(tmp_path: Path, mark: str) -> None:
    """A log that cannot be opened stands for a full disk and for want of processes too."""
    log = tmp_path / "full.log"
    script = f"rm {log}; mkdir {log}; {until_all_serve(tmp_path)}; exit 1"
    programs = (Program("fine", ("sleep", mark)), Program("full", ("sh", "-c", script)))
    said = seven_lines_of(programs, tmp_path)
    assert all("full cannot be started: [Errno " in line for line in said[1:6])
    none_is_left(mark)


def test_what_could_never_be_started_ends_all(tmp_path: Path) -> None:
    (tmp_path / "full.log").mkdir()
    outcome = supervise((Program("full", ("true",)),), tmp_path, threading.Event())
    assert outcome.code == 1
    assert "full cannot be started: [Errno " in outcome.said[-1]
    assert "3 times in a row" in outcome.said[-1]


@dataclass(frozen=True)
class NotThere:
    """Ready until a file is there."""

    path: Path

    def is_ready(self) -> bool:
        return not self.path.exists()


def never() -> TcpReadiness:
    """Port 1 of this machine accepts nothing."""
    return TcpReadiness(1)
