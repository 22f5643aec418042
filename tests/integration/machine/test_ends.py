"""Programs that may end by themselves, and a signal that comes while others are silent."""

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from services.machine.supervision.programs import Program
from services.machine.supervision.readiness import Look, Readiness, TcpReadiness
from services.machine.supervision.restarts import RestartPolicy
from services.machine.supervision.supervisor import Supervisor, Surroundings
from services.machine.waiting import now_seconds
from tests.integration.machine.marks import none_is_left


@dataclass
class Asked:
    """A liveness that is asked often, and finds what it is told to find."""

    finds: Callable[[], Look]
    every_seconds: float = 0.05
    looks_limit: int = 1
    grace_seconds: float = 10.0
    silence_limit_seconds: float = 0.3
    looks: int = 0

    def look(self) -> Look:
        self.looks += 1
        return self.finds()


@dataclass
class Told:
    """What the supervisor said, and since when something was said."""

    lines: list[str] = field(default_factory=list)
    since_seconds: float = 0.0

    def say(self, line: str) -> None:
        self.since_seconds = self.since_seconds or now_seconds()
        self.lines.append(line)

    def a_second_ago(self, seconds: float) -> bool:
        threading.Event().wait(seconds)
        return bool(self.lines) and now_seconds() - self.since_seconds > 1.0


@pytest.mark.parametrize(
    ("seconds", "readiness"), [("0", TcpReadiness(1)), ("0.5", None)], ids=["not seen", "seen"]
)
def test_what_may_end_is_not_started_again_and_not_looked_at(
    seconds: str, readiness: Readiness | None, tmp_path: Path, mark: str
) -> None:
    """The simulator at its bound, be it before anybody saw it ready."""
    runs, over, told, ready = tmp_path / "runs", tmp_path / "over", Told(), threading.Event()
    live = Asked(lambda: Look(is_silent=over.exists()))
    script = f"echo x >> {runs}; sleep {seconds}; touch {over}"
    ends = Program("ends", ("sh", "-c", script), readiness=readiness, liveness=live, may_end=True)
    others = Program("others", ("sleep", mark), after=("ends",))

    def wait(seconds: float) -> bool:
        return told.a_second_ago(seconds) and ready.is_set()

    around = Surroundings(os.environ, tmp_path, told.say, wait, now_seconds)
    assert Supervisor((ends, others), around, RestartPolicy(), ready.set).run() == 0
    assert told.lines == ["ends has ended", "stopping"]
    assert runs.read_text() == "x\n"
    none_is_left(mark)


def test_what_may_end_and_failed_is_started_again(tmp_path: Path) -> None:
    told = Told()
    ends = Program("ends", ("sh", "-c", "exit 69"), may_end=True)
    around = Surroundings(os.environ, tmp_path, told.say, told.a_second_ago, now_seconds)
    assert Supervisor((ends,), around, RestartPolicy(), lambda: None).run() == 0
    assert told.lines[0].startswith("ends ended with exit code 69; it starts again in")


def test_what_may_end_and_ended_because_it_was_asked_is_started_again(
    tmp_path: Path, mark: str
) -> None:
    """Asked to end as it was found dead, the simulator answers with 0 as well."""
    runs, told = tmp_path / "runs", Told()

    def count() -> int:
        return len(runs.read_text().split()) if runs.exists() else 0

    def wait(seconds: float) -> bool:
        threading.Event().wait(seconds)
        return count() == 2

    live = Asked(lambda: Look("sick" if count() == 1 and not told.lines else None))
    script = f"trap 'exit 0' TERM; echo x >> {runs}; sleep {mark} & wait"
    sick = Program("sick", ("sh", "-c", script), liveness=live, may_end=True)
    around = Surroundings(os.environ, tmp_path, told.say, wait, now_seconds)
    policy = RestartPolicy(first_pause_seconds=0.0)
    assert Supervisor((sick,), around, policy, lambda: None).run() == 0
    assert told.lines[0] == "sick: only a restart heals it, once that can help: sick"
    assert told.lines[1].startswith("sick ended with exit code 0; it starts again in")
    none_is_left(mark)


def test_a_signal_waits_for_one_look_and_not_for_all(tmp_path: Path, mark: str) -> None:
    """Each look at what is silent takes two seconds, and of programs there are some twenty."""
    stop = threading.Event()

    def silent() -> Look:
        stop.set()
        return Look(is_silent=True)

    live = Asked(silent)
    programs = [Program(name, ("sleep", mark), liveness=live) for name in ("a", "b", "c")]
    around = Surroundings(os.environ, tmp_path, lambda _: None, stop.wait, now_seconds)
    assert Supervisor(tuple(programs), around, RestartPolicy(), lambda: None).run() == 0
    assert live.looks == 1
    none_is_left(mark)
