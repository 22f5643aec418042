"""`who`: who would be told of a made-up alert, and why."""

import argparse
from typing import Any, TextIO

from services.backbone.lines import tell
from services.backbone.web.client import ApiClient
from services.backbone.web.silencing import labels_of
from services.contracts.records import Severity


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    who = commands.add_parser("who", help="who would be told of a made-up alert; nobody is told")
    who.add_argument("watch", help="its watch")
    who.add_argument("--severity", choices=[str(each) for each in Severity], default="critical")
    who.add_argument("--label", action="append", default=[], metavar="NAME=VALUE")
    who.add_argument("--at", metavar="TIME", help="for example 2026-11-21T22:00:00Z (now)")


def who(chosen: argparse.Namespace, client: ApiClient, out: TextIO) -> int:
    """Ask the lookout."""
    body = {"watch": chosen.watch, "severity": chosen.severity, "labels": labels_of(chosen.label)}
    moment = {"at": chosen.at} if chosen.at else {}
    told = client.ask("POST", "/v1/routes/explain", body | moment)
    for each in told["told"]:
        tell(out, _line(each))
    if not told["told"]:
        tell(out, "nobody")
    for each in told["considered"]:
        tell(out, f"# {each['route']}: {each['why']}")
    return 0


def _line(each: dict[str, Any]) -> str:
    unreachable = f", but {each['unreachable']}" if each["unreachable"] else ""
    spare = "".join(f", else {at['channel']} to {at['recipient']}" for at in each["fallback"])
    return f"{each['channel']} to {each['recipient']} by {each['route']}{unreachable}{spare}"
