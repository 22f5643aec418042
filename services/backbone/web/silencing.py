"""How a silence is written on a command line, and how its preview reads."""

import argparse
from collections.abc import Iterable, Iterator
from typing import Any

from services.backbone.errors import Refused
from services.contracts.records import Severity


def add_silence_arguments(parser: argparse.ArgumentParser, *, needs_reason: bool) -> None:
    """Add what says which alerts a silence holds back, from when, how long and why."""
    parser.add_argument("--watch", action="append", help="a watch's name, or a pattern like cpu*")
    parser.add_argument("--severity", action="append", choices=[str(each) for each in Severity])
    parser.add_argument("--label", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--lasts", default="1h", help="for example 30m, 2h, 1d (default: 1h)")
    parser.add_argument("--from", dest="starts_at", help="for example 2026-11-21T22:00:00Z")
    parser.add_argument("--reason", required=needs_reason, default="", help="kept, and shown")


def silence_body(chosen: argparse.Namespace) -> dict[str, Any]:
    """Return what the API is asked.

    Raises:
        Refused: a label is not NAME=VALUE, or stands twice.
    """
    labels = labels_of(chosen.label)
    match = {"watch": chosen.watch, "severity": chosen.severity, "labels": labels}
    body = {
        "match": {name: value for name, value in match.items() if value},
        "lasts": chosen.lasts,
        "reason": chosen.reason,
    }
    return body | ({"starts_at": chosen.starts_at} if chosen.starts_at else {})


def preview_lines(told: dict[str, Any]) -> Iterator[str]:
    """Give the lines that say what a silence would hold back."""
    yield (
        f"of the newest {told['alerts_looked_at']} alerts it would have caught"
        f" {told['alerts_caught']}; of {told['deliveries_looked_at']} deliveries that are not sent"
        f" yet it would hold back {told['deliveries_held_back']}"
    )
    for each in told["alerts"]:
        yield f"  {each['alert_id']} {each['severity']} {each['watch']}: {each['summary']}"


def labels_of(given: Iterable[str]) -> dict[str, str]:
    """Return labels by name.

    Raises:
        Refused: one is not NAME=VALUE, or two have one name.
    """
    labels: dict[str, str] = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or not name:
            raise Refused(f"--label {each}: write NAME=VALUE")
        if name in labels:
            raise Refused(f"--label {name} stands twice; give it once")
        labels[name] = value
    return labels
