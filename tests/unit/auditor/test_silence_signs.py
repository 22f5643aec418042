"""The example of *nothing came*: what its script sends and says, and which bodies are signs."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
import yaml

from services.contracts.events import Event, EventReader, Invalid
from services.contracts.streams import load_streams
from services.gateway.answer import answer
from services.gateway.intake import Taken
from tests.unit.servers import DOCS

SILENCE: Final = DOCS / "examples" / "silence"
SOURCES: Final = SILENCE / "watches" / "sources.csv"
STREAM: Final = "signs"
READER: Final = EventReader(load_streams(SILENCE / "streams")[STREAM])


@dataclass(frozen=True)
class Run:
    """What the script gave to curl, and how it ended."""

    arguments: str
    body: bytes
    said: bytes
    code: int


def sent_ticks(folder: Path, says: str, code: int = 0) -> Run:
    """Run the script with a curl that notes what it is given, and answers."""
    (folder / "says").write_text(says)
    noting = 'echo "$@" >"$NOTES/given"; cat >"$NOTES/body"; cat "$NOTES/says"'
    (folder / "curl").write_text(f"#!/bin/sh\n{noting}\nexit {code}\n")
    (folder / "curl").chmod(0o755)
    path = f"{folder}:{os.environ['PATH']}"
    told = {"PATH": path, "NOTES": str(folder), "GATEWAY": "http://gate", "KEY": "key"}
    command = ["sh", str(SILENCE / "ticks.sh"), str(SOURCES)]
    ran = subprocess.run(command, env=told, capture_output=True, check=False)
    assert not ran.stdout
    given, body = (folder / "given").read_text(), (folder / "body").read_bytes()
    return Run(given, body, ran.stderr, ran.returncode)


def answered(*bodies: bytes) -> str:
    """Return what the gateway says of these events."""
    verdicts = [READER.read(body) for body in bodies]
    return answer(STREAM, Taken(verdicts, [None] * len(verdicts)), "r").body.decode()


def test_the_script_sends_a_tick_for_each_listed_source_and_says_nothing(tmp_path: Path) -> None:
    run = sent_ticks(tmp_path, answered(b'{"source": "web-1"}'))
    assert (run.code, run.said) == (0, b"")
    assert " http://gate/v1/streams/signs/events -H x-api-key: key " in run.arguments
    events = [READER.read(line) for line in run.body.splitlines()]
    assert [each.key for each in events if isinstance(each, Event)] == [
        line.partition(",")[0] for line in SOURCES.read_text("utf-8").splitlines()[1:]
    ]
    assert all(b'"kind":"tick"' in each.value for each in events if isinstance(each, Event))


def test_the_script_says_which_ticks_were_refused(tmp_path: Path) -> None:
    run = sent_ticks(tmp_path, answered(b'{"source": "web-1"}', b'{"source": ""}'))
    assert run.code != 0
    assert b'"index":1' in run.said


def test_the_script_fails_with_what_a_gateway_says_that_took_nothing(tmp_path: Path) -> None:
    run = sent_ticks(tmp_path, '{"detail": "no valid key"}', code=22)
    assert run.code != 0
    assert b"no valid key" in run.said


def test_the_job_runs_the_script() -> None:
    job = yaml.safe_load((SILENCE / "cronjob.yaml").read_text("utf-8"))
    (container,) = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    assert container["command"] == ["sh", "/ticks/ticks.sh", "/watches/sources.csv"]
    assert {each["name"] for each in container["env"]} == {"GATEWAY", "KEY"}


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b'{"hostname": "web-1", "load": 0.4}', None),
        (b'{"source": "web-1", "kind": "gauge"}', "invalid_field"),
        (b'{"hostname": "web-1", "feed": "prices"}', "field_twice"),
    ],
)
def test_which_other_bodies_are_signs(body: bytes, reason: str | None) -> None:
    read = READER.read(body)
    assert (read.reason if isinstance(read, Invalid) else None) == reason
