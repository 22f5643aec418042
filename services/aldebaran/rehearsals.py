"""`watch try`: what a watch would have raised on recent events, before it goes live."""

import argparse
import json
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, TextIO

from services.backbone.clock import Clock
from services.backbone.errors import Refused, Transient
from services.backbone.lines import tell, tell_text
from services.backbone.web.client import ApiClient
from services.contracts.declarations import FILE_LIMIT_BYTES, BadDeclaration
from services.contracts.watches import load_watch

LOOK_SECONDS: Final = 1.0
OPEN: Final = ("ASKED", "RUNS")
MARKS: Final = {"new": "+", "live": "-", "both": " "}
"""What stands before an alert where two versions are compared, as before the lines of the file."""


def add_try(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    command = commands.add_parser("try", help="run a watch over recent events; nobody is told")
    command.add_argument("file", type=Path)
    command.add_argument("--since", default="1h", help="how far back: 30m, 2h, 1d (default 1h)")
    command.add_argument("--wait", type=float, default=600.0, metavar="SECONDS")
    command.add_argument("--json", action="store_true", help="all of the answer")


def try_watch(chosen: argparse.Namespace, client: ApiClient, clock: Clock, out: TextIO) -> int:
    """Ask for a rehearsal, wait for it and show it; 1 where the watch cannot run.

    Raises:
        Refused: the file cannot be used; with the line.
        Transient: nothing came of it, or not in time.
    """
    body = {**_texts(chosen.file), "since": chosen.since}
    asked = client.ask("POST", "/v1/rehearsals", body, key=uuid.uuid4().hex)
    path = f"/v1/rehearsals/{asked['rehearsal_id']}"
    told = _ended(client, path, clock, chosen.wait)
    if chosen.json:
        out.write(f"{json.dumps(told)}\n")
    else:
        _show(told, out)
    return 1 if told["answer"]["refused"] else 0


def _texts(file: Path) -> dict[str, str]:
    """Return the watch, and its table of rules where one lies beside it."""
    try:
        declared = load_watch(file)
        table = file.with_name(declared.rules.file) if declared.rules else None
        rules = {"rules": table.read_text()} if table and table.is_file() else {}
        if len(rules.get("rules", "")) > FILE_LIMIT_BYTES:
            raise Refused(f"{table}: over {FILE_LIMIT_BYTES} characters; make it live first")
        return {"watch": file.read_text(), **rules}
    except (BadDeclaration, OSError, UnicodeDecodeError) as error:
        raise Refused(str(error)) from None


def _ended(client: ApiClient, path: str, clock: Clock, wait_seconds: float) -> dict[str, Any]:
    end = clock.monotonic_seconds() + wait_seconds
    while True:
        late = clock.monotonic_seconds() > end
        told = _told(client, path, late)
        if told and told["state"] == "FAILED":
            raise Transient(f"it could not be tried: {told['trouble']}")
        if told and told["state"] not in OPEN:
            return told
        if told and late:
            why = "waits; does services.rehearsal run?" if told["state"] == "ASKED" else "runs"
            raise Transient(f"rehearsal {told['rehearsal_id']} still {why}")
        clock.wait(threading.Event(), LOOK_SECONDS)


def _told(client: ApiClient, path: str, late: bool) -> dict[str, Any] | None:
    """Return the rehearsal, or None where nobody answers and there is time to ask again."""
    try:
        told: dict[str, Any] = client.ask("GET", path)
    except Transient:
        if late:
            raise
        return None
    return told


def _show(told: dict[str, Any], out: TextIO) -> None:
    answer = told["answer"]
    if answer["refused"]:
        tell_text(out, answer["refused"])
        return
    looked, new, live = answer["looked"], answer["new"], answer["live"]
    for line in (*told["changed"], *_remarks(answer)):
        tell(out, line)
    head = f"{looked['events']} events: it would have raised {new['alerts']} alerts"
    tell(out, head + _beside(answer["counts"], live))
    for each in answer["raised"]:
        mark = f"{MARKS[each['by']]} " if live else ""
        tell(out, f"{mark}{each['severity']:8} {each['summary']} (found {each['times']}x)")
    if more := sum(answer["counts"].values()) - len(answer["raised"]):
        tell(out, f"and {more} more")


def _remarks(answer: dict[str, Any]) -> Iterator[str]:
    """Yield what a person should know of the watch, and of how it was tried."""
    looked, new = answer["looked"], answer["new"]
    if answer["room"]:
        yield answer["room"]
    if looked["events"] < looked["wanted"]:
        yield f"of {looked['wanted']} events the newest {looked['events']} were read"
    for name in ("new", "live"):
        if answer[name] and answer[name]["cut"]:
            yield f"the {name} version was {answer[name]['cut']}"
    if new["unusable"]:
        yield f"{new['unusable']} findings would be kept aside by the lookout"
    if answer["live_refused"]:
        yield f"the live version could not be run: {answer['live_refused']}"


def _beside(counts: dict[str, int], live: dict[str, Any] | None) -> str:
    if not live:
        return ""
    return (
        f"; the live one {live['alerts']}: {counts['both']} by both,"
        f" {counts['new']} only by the new one, {counts['live']} only by the live one"
    )
