"""`silence`, `send-test`: hold alerts back for a while, and try a way to somebody."""

import argparse
import json
import uuid
from collections.abc import Iterable
from typing import Any, TextIO

from services.aldebaran.client import Client
from services.backbone.errors import Refused


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the commands."""
    silence = commands.add_parser("silence", help="hold alerts back for a while")
    actions = silence.add_subparsers(dest="action", required=True)
    for name, text in (("add", "silence alerts"), ("preview", "show what that would catch")):
        add = actions.add_parser(name, help=text)
        add.add_argument("--watch", default="", help="a name, or a pattern like cpu*")
        add.add_argument("--severity", default="", choices=["", "info", "warning", "critical"])
        add.add_argument("--label", action="append", default=[], metavar="NAME=VALUE")
        add.add_argument("--lasts", default="1h", help="for example 30m, 2h, 1d (default 1h)")
        add.add_argument("--reason", required=name == "add", default="", help="shown to all")
    actions.add_parser("list", help="silences, newest first")
    actions.add_parser("end", help="end one now").add_argument("silence", help="its id")
    test = commands.add_parser("send-test", help="send a test the whole way to somebody")
    test.add_argument("--channel")
    test.add_argument("--to", help="the recipient on the channel")
    test.add_argument("--person", help="a person of the routes, on all channels")
    test.add_argument("--route", help="whom a route tells")
    test.add_argument("--severity", choices=["info", "warning", "critical"], default="info")
    test.add_argument("--text", default="", help="what they read")


def silence(chosen: argparse.Namespace, client: Client, out: TextIO) -> int:
    """Carry out one action on silences."""
    if chosen.action == "list":
        out.writelines(map(_line, client.ask("GET", "/v1/silences")))
    elif chosen.action == "end":
        out.write(_line(client.ask("DELETE", f"/v1/silences/{chosen.silence}")))
    elif chosen.action == "add":
        key = uuid.uuid4().hex
        out.write(_line(client.ask("POST", "/v1/silences", _body(chosen), key=key)))
    else:
        _preview(client.ask("POST", "/v1/silences/preview", _body(chosen)), out)
    return 0


def send_test(chosen: argparse.Namespace, client: Client, out: TextIO) -> int:
    """Send a test."""
    given = {
        "channel": chosen.channel,
        "recipient": chosen.to,
        "person": chosen.person,
        "route": chosen.route,
        "severity": chosen.severity,
        "text": chosen.text,
    }
    body = {name: value for name, value in given.items() if value}
    sent = client.ask("POST", "/v1/test-sends", body, key=uuid.uuid4().hex)
    out.write(f"alert {sent['alert_id']}; see: aldebaran why {sent['alert_id'][:8]}\n")
    return 0


def _body(chosen: argparse.Namespace) -> dict[str, Any]:
    match: dict[str, Any] = {}
    if chosen.watch:
        match["watch"] = chosen.watch
    if chosen.severity:
        match["severity"] = chosen.severity
    if chosen.label:
        match["labels"] = _labels(chosen.label)
    return {"match": match, "lasts": chosen.lasts, "reason": chosen.reason}


def _labels(given: Iterable[str]) -> dict[str, str]:
    labels = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or not name:
            raise Refused(f"--label {each}: write NAME=VALUE")
        labels[name] = value
    return labels


def _preview(told: dict[str, Any], out: TextIO) -> None:
    out.write(
        f"of the newest {told['alerts_looked_at']} alerts it would have caught"
        f" {told['alerts_caught']}; of {told['deliveries_looked_at']} deliveries that are not sent"
        f" yet it would hold back {told['deliveries_held_back']}\n"
    )
    out.writelines(f"  {each['alert_id'][:8]} {each['summary']}\n" for each in told["alerts"])


def _line(each: dict[str, Any]) -> str:
    ends = each["ended_at"] or each["ends_at"]
    said = f"{each['author']}: {each['reason']}"
    return f"{each['silence_id']} until {ends} {json.dumps(each['match'])} {said}\n"
