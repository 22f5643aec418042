"""Programs in an auditor's place are killed in turn, each with its whole group, and start again."""

import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
import pytest

from services.machine.ports import free_ports
from services.machine.supervision import child
from services.machine.supervision.programs import Program
from services.machine.waiting import wait_until
from tests.bench import kills
from tests.bench.engines.auditors import Auditor
from tests.bench.engines.killed import Mortal

HELD_UP = """
import http.server, subprocess, sys
subprocess.Popen(["sleep", "600"])
class Ok(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Ok).serve_forever()
"""
"""Has a child, as an auditor has its Java, and says that it is ready."""


@contextmanager
def stand_in(folder: Path, name: str) -> Iterator[Auditor]:
    (port,) = free_ports(1)
    command = (sys.executable, "-c", HELD_UP, str(port))
    program = Program("stand-in", command, {"ALDEBARAN_AUDITOR_ID": name})
    log_file = folder / f"{name}.log"
    auditor = Auditor(child.start(program, log_file, os.environ), port, log_file)
    try:
        wait_until(auditor.is_ready, 30, log_file.read_text())
        yield auditor
    finally:
        auditor.running.stop()


def family(auditor: Auditor) -> list[psutil.Process]:
    first = psutil.Process(auditor.running.process.pid)
    return [first, *first.children(recursive=True)]


def test_a_kill_leaves_none_of_the_group_and_the_next_life_adds_to_the_last(tmp_path: Path) -> None:
    with stand_in(tmp_path, "a") as auditor:
        before = family(auditor)
        assert len(before) == 2
        used = auditor.usage().cpu_seconds
        assert used > 0
        auditor.kill()
        _, left = psutil.wait_procs(before, 10)
        assert not left
        auditor.start_again()
        wait_until(auditor.is_ready, 30, "it does not start again")
        assert auditor.usage().cpu_seconds > used


def test_auditors_are_killed_in_turn_and_all_run_behind_the_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("FIRST_KILL_SECONDS", "RECOVERY_SECONDS", "CATCHING_UP_SECONDS"):
        monkeypatch.setattr(kills, name, 0.0)
    monkeypatch.setattr(kills, "KILL_EVERY_SECONDS", 0.001)
    with ExitStack() as closing:
        hand = closing.enter_context(ThreadPoolExecutor(1))
        auditors = [closing.enter_context(stand_in(tmp_path, name)) for name in "ab"]
        first_lives = [each.running.group for each in auditors]
        mortal = Mortal(auditors, hand)
        with mortal.killing(0.01) as killed:
            wait_until(lambda: len(killed) >= 3, 60, "nobody is killed")
        assert [kill.who for kill in killed] == list("abababababab"[: len(killed)])
        moments = [at for kill in killed for at in (kill.at_ns, kill.started_ns)]
        assert moments == sorted(moments)
        assert all(each.is_ready() for each in auditors)
        assert not {each.running.group for each in auditors} & set(first_lives)


def test_a_block_that_ends_early_has_no_kill(tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as hand, stand_in(tmp_path, "a") as auditor:
        alive = auditor.running.group
        with Mortal([auditor], hand).killing(60) as killed:
            assert auditor.is_ready()
        assert killed == []
        assert auditor.running.group == alive
