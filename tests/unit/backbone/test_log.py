"""Lines on standard error: ours and those of libraries look the same, and none ends a program."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SAYING = """
import logging, sys, threading
from services.backbone.log import logger, set_up_logging
from services.backbone.settings import Settings

set_up_logging("lookout", Settings(instance="one", log_format=sys.argv[1], log_level="info"))
log = logger("services.lookout")
log.debug("left_out")
log.info("ours", count=3, state={"a": (1, 2)})
logging.getLogger("library").warning("theirs: %s", 7)
logging.getLogger("httpx2").info("POST https://receiver/with-a-secret")
log.info("large", count=2**70, text="\\ud800")
log.info("moving", provider_id="a\\x1b[1A\\x1b[2Kb", bell="\\x07")

def elsewhere():
    log.info("ours on another thread")
    logging.getLogger("library").warning("theirs on another thread")

thread = threading.Thread(target=elsewhere)
thread.start()
thread.join()

def connect(url):
    raise ValueError("wrong")

try:
    connect("amqp://user:local-secret@rabbit/")
except ValueError:
    log.exception("bug")
"""


def said(log_format: str) -> list[str]:
    """Return the lines of a program that says one of each kind."""
    command = [sys.executable, "-c", SAYING, log_format]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert not done.stdout
    return done.stderr.splitlines()


def test_lines_are_json_and_alike() -> None:
    lines: list[dict[str, Any]] = [json.loads(each) for each in said("json")]
    same = {"program", "instance", "timestamp", "level", "logger", "event"}
    assert all(same <= each.keys() for each in lines)
    assert {(each["program"], each["instance"]) for each in lines} == {("lookout", "one")}
    assert [(each["event"], each["level"]) for each in lines] == [
        ("ours", "info"),
        ("theirs: 7", "warning"),
        ("large", "info"),
        ("moving", "info"),
        ("ours on another thread", "info"),
        ("theirs on another thread", "warning"),
        ("bug", "error"),
    ]
    assert [each["logger"] for each in lines[:2]] == ["services.lookout", "library"]
    assert (lines[0]["count"], lines[0]["state"]) == (3, {"a": [1, 2]})
    assert (lines[2]["count"], lines[2]["text"]) == (2**70, "\ud800")
    assert lines[-1]["exception"][0]["exc_value"] == "wrong"
    assert "local-secret" not in json.dumps(lines)


@pytest.mark.parametrize("part", ["ours", "theirs: 7", "large", "ValueError: wrong"])
def test_lines_are_text(part: str) -> None:
    text = "\n".join(said("text"))
    assert part in text
    assert "left_out" not in text
    assert r"a\x1b[1A\x1b[2Kb" in text
    assert not {"\x1b", "\x07"} & set(text)
    assert "secret" not in text


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_a_full_disk_ends_no_program() -> None:
    """It is unbuffered, as everywhere; else Python itself ends with 120 for what stayed behind."""
    command = [sys.executable, "-u", "-c", f"{SAYING}\nprint('went on')", "json"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=full, text=True, timeout=60, check=False
        )
    assert (done.returncode, done.stdout) == (0, "went on\n")
