"""A program in an auditor's place is killed with its whole group, and starts again."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from services.machine import child
from services.machine.ports import free_ports
from services.machine.programs import Program
from services.machine.waiting import wait_until
from tests.bench.engines.auditors import Auditor

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
