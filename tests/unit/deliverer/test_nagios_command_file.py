"""The command file: a FIFO without a reader, full, or no FIFO takes nothing."""

import os
from pathlib import Path

import pytest

from services.deliverer.channels.nagios.command_file import LINE_LIMIT_BYTES, put
from services.deliverer.outcomes import Accepted, Refused


@pytest.fixture
def fifo(tmp_path: Path) -> Path:
    file = tmp_path / "nagios.cmd"
    os.mkfifo(file)
    return file


def opened() -> None:
    """Stand for a window that lets out."""


def test_without_a_reader_nothing_is_taken_and_the_window_stays_shut(fifo: Path) -> None:
    opened_times: list[bool] = []
    for file in (fifo, fifo.with_name("none")):
        outcome = put(file, b"[1] X;\n", lambda: opened_times.append(True))
        assert isinstance(outcome, Refused)
        assert outcome.destination_down
    assert not opened_times


def test_a_plain_file_is_no_command_file(tmp_path: Path) -> None:
    file = tmp_path / "plain"
    file.touch()
    outcome = put(file, b"[1] X;\n", opened)
    assert isinstance(outcome, Refused)
    assert not file.read_bytes()


@pytest.mark.promise("not_taken", "nagios")
def test_a_line_comes_whole_or_not_at_all(fifo: Path) -> None:
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    line = b"x" * (LINE_LIMIT_BYTES - 1) + b"\n"
    try:
        written = 0
        while isinstance(outcome := put(fifo, line, opened), Accepted):
            written += 1
        assert isinstance(outcome, Refused)
        assert written > 1
        read = b""
        while len(read) < written * len(line):
            read += os.read(reader, 65536)
        assert read == line * written
    finally:
        os.close(reader)
