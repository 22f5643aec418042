"""`why`: every decision about one alert, as people read it or as JSON, straight from the ledger."""

import argparse
import sys
from collections.abc import Iterable, Iterator
from typing import Final, TextIO

import orjson

from services.backbone.errors import Trouble
from services.backbone.ledger.answers.why import Answer, Answers, Happening, Recipient
from services.backbone.ledger.database import pool_of_command
from services.backbone.settings import LedgerSettings
from services.contracts import topics
from services.lookout.templates.rendering import iso, one_line

NAME: Final = "why"

Commands = argparse._SubParsersAction  # noqa: SLF001 (argparse gives it no public name)


def add_command(commands: "Commands[argparse.ArgumentParser]") -> None:
    """Add the command to the lookout's."""
    asked = commands.add_parser(NAME, help="say why an alert was sent, or was not")
    asked.add_argument("alert", help="the alert's id, or its first 8 characters")
    asked.add_argument("--json", action="store_true", help="for programs")


def answer(asked: argparse.Namespace, settings: LedgerSettings) -> int:
    """Carry the command out; return the exit code: 1 if the ledger knows no such alert."""
    try:
        with pool_of_command(settings) as pool:
            answers = Answers(pool)
            found = answers.why(asked.alert)
            absent = "" if found else answers.absent(asked.alert)
    except Trouble as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return tell(found, absent, sys.stdout, as_json=asked.json)


def tell(found: Answer | None, absent: str, out: TextIO, *, as_json: bool) -> int:
    """Write the answer, or where it is that there is none of; return the exit code."""
    if found is None:
        lines: Iterable[str] = _unknown(absent)
    elif as_json:
        lines = [orjson.dumps(found, option=orjson.OPT_INDENT_2).decode()]
    else:
        lines = _lines(found)
    out.writelines(f"{line}\n" for line in lines)
    return 1 if found is None else 0


def _unknown(absent: str) -> Iterator[str]:
    kept = topics.rejected(topics.ALERTS)
    yield f"{absent} (looked at: alerts, and what was set aside, by id)."
    if kept in absent:
        return
    yield "So one of these:"
    yield "- It was never found: no watch fired. The id is a hash of watch and key columns."
    yield f"- It is on topic {topics.ALERTS} and not taken in yet: the lookout is down or behind."
    yield f"- It could not be used: topic {kept} has it, with the reason."
    yield "- It is older than the ledger's retention."


def _lines(found: Answer) -> Iterator[str]:
    yield f"[{found.severity.upper()}] {found.watch}: {one_line(found.summary)}"
    yield f"alert {found.alert_id}"
    yield f"detected {iso(found.detected_at_ms)}, taken in {iso(found.accepted_at_ms)}"
    if found.acknowledged_at_ms is not None:
        yield f"acknowledged {iso(found.acknowledged_at_ms)}"
    yield f"routed by {found.routed_by}"
    for route in found.considered:
        mark = "yes" if route.fits else "no "
        yield f"  {'  ' * route.depth}{mark} {route.name}: {one_line(route.why)}"
    yield from (_line(each) for each in found.happened)
    for each in found.repeats:
        copies = "1 copy" if each.copies == 1 else f"{each.copies} copies"
        yield f"  {iso(each.last_at_ms)} dropped as a repeat: {copies} by auditor {each.auditor}"
    for recipient in found.recipients:
        yield ""
        yield from _recipient(recipient)
    if found.cut:
        yield ""
        yield f"only the first are here of: {', '.join(found.cut)}"


def _recipient(told: Recipient) -> Iterator[str]:
    again = f", message {told.repetition + 1}" if told.repetition else ""
    yield f"{told.channel} to {told.recipient}{again}: {one_line(told.sentence)}"
    yield f"  delivery {told.delivery_id}, {told.state}, route {told.route or 'unknown'}"
    yield from (_line(each) for each in told.happened)


def _line(happening: Happening) -> str:
    detail = f": {one_line(happening.detail)}" if happening.detail else ""
    return f"  {iso(happening.at_ms)} {happening.what}{detail}"
