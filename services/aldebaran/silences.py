"""`silence`, `send-test`: hold alerts back for a while, and try a way to somebody."""

import argparse
import json
from typing import Any, TextIO

from services.aldebaran.client import all_rows
from services.backbone.lines import tell
from services.backbone.web.client import ApiClient, in_path
from services.backbone.web.once import add_key_argument, ask_once
from services.backbone.web.silencing import add_silence_arguments, preview_lines, silence_body
from services.backbone.web.trials import add_trial_arguments, trial_body


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the commands."""
    silence = commands.add_parser("silence", help="hold alerts back for a while")
    actions = silence.add_subparsers(dest="action", required=True)
    for name, text in (("add", "silence alerts"), ("preview", "show what that would catch")):
        add = actions.add_parser(name, help=text)
        add_silence_arguments(add, needs_reason=name == "add")
        if name == "add":
            add_key_argument(add)
    actions.add_parser("list", help="silences, newest first")
    actions.add_parser("end", help="end one now").add_argument("silence", help="its id")
    test = commands.add_parser("send-test", help="send a test the whole way to somebody")
    add_trial_arguments(test)
    add_key_argument(test)


def silence(chosen: argparse.Namespace, client: ApiClient, out: TextIO) -> int:
    """Carry out one action on silences."""
    if chosen.action == "list":
        for each in all_rows(client, "/v1/silences"):
            tell(out, _line(each))
    elif chosen.action == "end":
        tell(out, _line(client.ask("DELETE", f"/v1/silences/{in_path(chosen.silence)}")))
    elif chosen.action == "add":
        tell(out, _line(ask_once(client, "/v1/silences", silence_body(chosen), chosen.key)))
    else:
        told = client.ask("POST", "/v1/silences/preview", silence_body(chosen))
        for line in preview_lines(told):
            tell(out, line)
    return 0


def send_test(chosen: argparse.Namespace, client: ApiClient, out: TextIO) -> int:
    """Send a test."""
    sent = ask_once(client, "/v1/test-sends", trial_body(chosen), chosen.key)
    tell(out, f"alert {sent['alert_id']}; see: aldebaran why {sent['alert_id'][:8]}")
    return 0


def _line(each: dict[str, Any]) -> str:
    ends = each["ended_at"] or each["ends_at"]
    said = f"{each['author']}: {each['reason']}"
    return f"{each['silence_id']} until {ends} {json.dumps(each['match'])} {said}"
