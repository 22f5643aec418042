"""What is found dead is asked to end, killed if need be, and started again once that can help."""

import math
import os
import re
import signal
import socket
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

import psutil

from services.backbone.health import START
from services.machine.ports import free_ports
from services.machine.supervision.programs import Program
from services.machine.supervision.readiness import HttpLiveness, HttpReadiness, HttpWork, Look
from services.machine.supervision.restarts import RestartPolicy
from services.machine.supervision.supervisor import Supervisor, Surroundings
from services.machine.waiting import now_seconds
from tests.integration.machine.marks import none_is_left

SICK = """
import http.server, pathlib, sys
lives = pathlib.Path(sys.argv[2])
with lives.open("a") as file:
    file.write("x")
healed = len(lives.read_text()) > 1

class Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(503 if self.path == "/healthz/live" and not healed else 200)
        self.end_headers()
        self.wfile.write(b"fenced")

http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Pages).serve_forever()
"""


def test_what_says_that_only_a_restart_heals_it_gets_one(tmp_path: Path) -> None:
    """A producer that was fenced stays away for ever in a process that goes on otherwise."""
    (port,), lives, said = free_ports(1), tmp_path / "lives", list[str]()
    command = (sys.executable, "-c", SICK, str(port), str(lives))
    ready, live = HttpReadiness(port), HttpLiveness(port, every_seconds=0.1)
    sick = Program("sick", command, readiness=ready, liveness=live)

    def wait(seconds: float) -> bool:
        threading.Event().wait(seconds)
        return len(said) == 2 and ready.is_ready()

    around = Surroundings(os.environ, tmp_path, said.append, wait, now_seconds)
    policy = RestartPolicy(first_pause_seconds=0.01)
    assert Supervisor((sick,), around, policy, lambda: None).run() == 0
    assert said[0].startswith("sick: only a restart heals it")
    assert said[0].endswith(": fenced")
    assert said[1].startswith("sick ended with signal 15; it starts again in")
    assert said[2:] == ["stopping"]
    assert lives.read_text() == "xx"


def test_what_hangs_is_ended_and_started_again(tmp_path: Path) -> None:
    """A client in C that waits for itself holds Python's lock: nothing of the program answers."""
    (port,), lives, said = free_ports(1), tmp_path / "lives", list[str]()
    command = (sys.executable, "-c", SICK, str(port), str(lives))
    lives.write_text("x")
    ready = HttpReadiness(port)
    live = HttpLiveness(port, every_seconds=0.1, grace_seconds=0.1, silence_limit_seconds=6.0)
    hung = Program("hung", command, readiness=ready, liveness=live)

    def hang() -> None:
        (pid,) = (each.pid for each in psutil.Process().children() if each.cmdline()[1] == "-c")
        os.kill(pid, signal.SIGSTOP)

    def wait(seconds: float) -> bool:
        threading.Event().wait(seconds)
        return len(said) == 2 and ready.is_ready()

    around = Surroundings(os.environ, tmp_path, said.append, wait, now_seconds)
    policy = RestartPolicy(first_pause_seconds=0.01)
    assert Supervisor((hung,), around, policy, hang).run() == 0
    assert re.fullmatch(r"hung: has not answered for \d+ s; it is ended", said[0])
    assert said[1].startswith("hung ended with signal 9; it starts again in")


@dataclass
class Answers:
    """A liveness whose program answers some of the looks, which are ten seconds apart."""

    looks: list[bool]
    now_seconds: float = 0.0
    every_seconds: float = 0.0
    looks_limit: int = 3
    grace_seconds: float = 0.0
    silence_limit_seconds: float = 60.0

    def look(self) -> Look:
        self.now_seconds += 10.0
        return Look(is_silent=not self.looks.pop(0))


def test_an_answer_between_silences_is_enough(tmp_path: Path) -> None:
    """Seven looks in a row are sixty seconds."""
    six, seven = [False] * 6, [False] * 7
    live, said = Answers([*six, True, *six, True, *seven, True]), list[str]()
    program = Program("slow", ("sleep", "60"), liveness=live)

    def wait(seconds: float) -> bool:
        threading.Event().wait(seconds)
        return bool(said)

    around = Surroundings(os.environ, tmp_path, said.append, wait, lambda: live.now_seconds)
    assert Supervisor((program,), around, RestartPolicy(), lambda: None).run() == 0
    assert said[0] == "slow: has not answered for 60 s; it is ended"
    assert live.looks == [True]


LACKING = """
import http.server, json, sys
name = sys.argv[2]

class Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(503)
        self.end_headers()
        self.wfile.write(json.dumps({"status": "failing", "failures": {name: "why"}}).encode())

http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Pages).serve_forever()
"""


LIMIT_SECONDS = 5


def lacking(name: str, port: int) -> Program:
    """Return a program that is never ready, as a check of that name fails."""
    command = (sys.executable, "-c", LACKING, str(port), name)
    ready, work = HttpReadiness(port), HttpWork(port)
    return Program(
        "lacking", command, readiness=ready, work=work, ready_timeout_seconds=LIMIT_SECONDS
    )


@dataclass
class SinceItListens:
    """Seconds that begin when a program listens, however long a busy machine takes to start it;
    then each look takes one more, until it is over the limit."""

    port: int
    looks: int = 0
    began: float = 0.0

    def now_seconds(self) -> float:
        now = now_seconds()
        self.began = self.began if self.looks else now
        if self.looks or self._listens():
            self.looks = min(self.looks + 1, LIMIT_SECONDS + 1)
        return self.looks + now - self.began

    def _listens(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=5).close()
        except OSError:
            return False
        return True


def test_what_works_and_lacks_something_goes_on_and_holds_up_nobody(tmp_path: Path) -> None:
    """One watch of an auditor cannot start; the others judge."""
    (port,), said, told = free_ports(1), list[str](), threading.Event()
    passed = SinceItListens(port).now_seconds
    around = Surroundings(os.environ, tmp_path, said.append, told.wait, passed)
    others = Program("others", ("sleep", "60"), after=("lacking",))
    programs = (lacking("watches", port), others)
    assert Supervisor(programs, around, RestartPolicy(), told.set).run() == 0
    assert said[0] == "lacking was not ready within 5 s, and goes on without: watches: why"
    assert said[1:] == ["stopping"]


def test_what_never_begins_its_work_counts_as_crashed(tmp_path: Path) -> None:
    (port,), said = free_ports(1), list[str]()

    def wait(seconds: float) -> bool:
        threading.Event().wait(seconds)
        return bool(said)

    passed = SinceItListens(port).now_seconds
    around = Surroundings(os.environ, tmp_path, said.append, wait, passed)
    programs = (lacking(START, port),)
    assert Supervisor(programs, around, RestartPolicy(), lambda: None).run() == 0
    assert said[0].startswith("lacking was not ready within 5 s; it starts again in")


@dataclass
class Stuck:
    """A liveness that finds a program dead while `why` says so."""

    why: str | None = None
    every_seconds: float = 0.01
    looks_limit: int = 1
    grace_seconds: float = 0.1
    silence_limit_seconds: float = math.inf

    def look(self) -> Look:
        return Look(self.why)


@dataclass(frozen=True)
class Starts:
    """A file that a program adds a line to when it starts, and is ready then."""

    file: Path

    def count(self) -> int:
        return len(self.file.read_text("utf-8").split()) if self.file.exists() else 0

    def is_ready(self) -> bool:
        return self.count() > 0


def test_what_is_dead_and_deaf_is_killed_and_not_started_while_that_would_not_help(
    tmp_path: Path, mark: str
) -> None:
    stuck, said, starts = Stuck(), list[str](), Starts(tmp_path / "starts")
    deaf = f"trap '' TERM; echo x >> {starts.file}; while :; do sleep {mark}; done"
    program = Program("deaf", ("sh", "-c", deaf), readiness=starts, liveness=stuck)
    held_looks = 0

    def wait(seconds: float) -> bool:
        nonlocal held_looks
        threading.Event().wait(seconds)
        if not said and starts.is_ready():
            stuck.why = "stuck"
        held_looks += len(said) == 3
        if held_looks == 5:
            assert starts.count() == 1, "it was started in vain"
            stuck.why = None
        return starts.count() == 2

    around = Surroundings(os.environ, tmp_path, said.append, wait, now_seconds)
    policy = RestartPolicy(first_pause_seconds=0.0)
    assert Supervisor((program,), around, policy, lambda: None).run() == 0
    assert [line.partition(";")[0] for line in said[1:4]] == [
        "deaf ended with signal 9",
        "deaf waits until a start can help: stuck",
        "stopping",
    ]
    none_is_left(mark)


@dataclass
class Says:
    """A liveness that says what it was given, then that all is well."""

    words: list[str | None]
    every_seconds: float = 0.0
    looks_limit: int = 3
    grace_seconds: float = 10.0
    silence_limit_seconds: float = math.inf
    looks: int = 0

    def look(self) -> Look:
        self.looks += 1
        return Look(self.words[self.looks - 1] if self.looks <= len(self.words) else None)


def test_what_was_ended_is_given_all_its_looks_again(tmp_path: Path) -> None:
    before_it_starts_again = None
    says = Says(["sick", "sick", "sick", before_it_starts_again, "sick"])
    starts, said = Starts(tmp_path / "starts"), list[str]()
    command = ("sh", "-c", f"echo x >> {starts.file}; exec sleep 60")
    program = Program("sick", command, readiness=starts, liveness=says)

    def wait(seconds: float) -> bool:
        threading.Event().wait(seconds)
        return says.looks > 8 and starts.count() >= 2

    around = Surroundings(os.environ, tmp_path, said.append, wait, now_seconds)
    policy = RestartPolicy(first_pause_seconds=0.0)
    assert Supervisor((program,), around, policy, lambda: None).run() == 0
    assert starts.count() == 2
    assert [line for line in said if "only a restart" in line] == said[:1]
