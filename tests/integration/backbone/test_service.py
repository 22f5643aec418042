"""A program as a real process: signals drain it, stubborn work is cut off, faults have codes."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from services.machine.ports import free_ports
from tests.said import said

ROOT = Path(__file__).parents[3]
PROGRAM = """
import sys, threading
from services.backbone.errors import Ended, Refused, Transient
from services.backbone.service import Life, run
from services.backbone.settings import read_settings, Settings

def body(life: Life) -> None:
    print("up", flush=True)
    {body}

sys.exit(run("probe", read_settings(Settings), body))
"""


def start(body: str, drain_seconds: float = 10, **told: str) -> "subprocess.Popen[str]":
    environment = {
        "PYTHONPATH": str(ROOT),
        "ALDEBARAN_HTTP_PORT": str(free_ports(1)[0]),
        "ALDEBARAN_DRAIN_TIMEOUT_SECONDS": str(drain_seconds),
        **told,
    }
    command = [sys.executable, "-c", PROGRAM.format(body=body)]
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    return process


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_drains_and_exits_0(number: signal.Signals) -> None:
    process = start("life.stop.wait(); print('drained', flush=True)")
    process.send_signal(number)
    out, _ = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "drained\n")


def test_work_that_does_not_end_is_cut_off_loudly() -> None:
    process = start("threading.Event().wait()", drain_seconds=0.2)
    process.send_signal(signal.SIGTERM)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 70
    assert "not drained 0.2 s after SIGTERM" in error


@pytest.mark.parametrize(
    ("body", "code", "event"),
    [
        ("raise Refused('no such watch')", 78, "refused"),
        ("raise Transient('no broker')", 69, "dependency_away"),
        ("raise Ended('fenced')", 69, "client_ended"),
        ("raise KeyError('oops')", 70, "bug"),
    ],
)
def test_each_kind_of_trouble_has_its_exit_code(body: str, code: int, event: str) -> None:
    process = start(body)
    _, error = process.communicate(timeout=60)
    assert process.returncode == code
    assert said(error, event)


def test_a_setting_that_no_program_has_is_told_without_its_value() -> None:
    process = start("life.stop.set()", ALDEBARAN_LOG_LEVLE="hunter2")
    _, error = process.communicate(timeout=60)
    (told,) = said(error, "unknown_settings")
    assert "ALDEBARAN_LOG_LEVLE (is it ALDEBARAN_LOG_LEVEL?)" in told["reason"]
    assert "hunter2" not in error


def test_a_busy_waiter_is_never_deadlocked_by_signals() -> None:
    """The handler must not touch the lock that the main thread takes thousands of times here."""
    process = start("any(life.stop.wait(0) for _ in iter(int, 1))")
    for _ in range(20):
        process.send_signal(signal.SIGTERM)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 0, error
