"""`silence`, `send-test`: hold alerts back for a while, and try a way to somebody."""

import argparse
import json
import uuid
from typing import Any, TextIO

from services.aldebaran.client import all_rows
from services.backbone.web.client import ApiClient, in_path
from services.backbone.web.silencing import add_silence_arguments, preview_lines, silence_body
from services.backbone.web.trials import add_trial_arguments, trial_body


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the commands."""
    silence = commands.add_parser("silence", help="hold alerts back for a while")
    actions = silence.add_subparsers(dest="action", required=True)
    for name, text in (("add", "silence alerts"), ("preview", "show what that would catch")):
        add = actions.add_parser(name, help=text)
        add_silence_arguments(add, needs_reason=name == "add")
    actions.add_parser("list", help="silences, newest first")
    actions.add_parser("end", help="end one now").add_argument("silence", help="its id")
    test = commands.add_parser("send-test", help="send a test the whole way to somebody")
    add_trial_arguments(test)


def silence(chosen: argparse.Namespace, client: ApiClient, out: TextIO) -> int:
    """Carry out one action on silences."""
    if chosen.action == "list":
        out.writelines(map(_line, all_rows(client, "/v1/silences")))
    elif chosen.action == "end":
        out.write(_line(client.ask("DELETE", f"/v1/silences/{in_path(chosen.silence)}")))
    elif chosen.action == "add":
        key = uuid.uuid4().hex
        out.write(_line(client.ask("POST", "/v1/silences", silence_body(chosen), key=key)))
    else:
        told = client.ask("POST", "/v1/silences/preview", silence_body(chosen))
        out.writelines(preview_lines(told))
    return 0


def send_test(chosen: argparse.Namespace, client: ApiClient, out: TextIO) -> int:
    """Send a test."""
    sent = client.ask("POST", "/v1/test-sends", trial_body(chosen), key=uuid.uuid4().hex)
    out.write(f"alert {sent['alert_id']}; see: aldebaran why {sent['alert_id'][:8]}\n")
    return 0


def _line(each: dict[str, Any]) -> str:
    ends = each["ended_at"] or each["ends_at"]
    said = f"{each['author']}: {each['reason']}"
    return f"{each['silence_id']} until {ends} {json.dumps(each['match'])} {said}\n"
