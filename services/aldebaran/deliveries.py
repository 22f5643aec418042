"""`todo`, `say`: what waits for a person, and a person's word on it."""

import argparse
from itertools import islice
from typing import Any, Final, TextIO

from services.aldebaran.client import all_rows
from services.aldebaran.rows import show
from services.backbone.web.client import ApiClient, in_path
from services.backbone.web.once import add_key_argument, ask_once

COUNTED: Final = 200
"""More dead letters than this are not counted; the console tells no more at once."""


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the commands."""
    todo = commands.add_parser("todo", help="deliveries that wait for a person")
    todo.add_argument(
        "--state", action="append", help="IN_DOUBT and HELD if left out; FAILED: dead letters"
    )
    todo.add_argument("--channel", help="only this one's; of open states and FAILED")
    todo.add_argument("--limit", type=int, help="the newest so many; all if left out")
    todo.add_argument("--json", action="store_true", help="a line of JSON each")
    say = commands.add_parser("say", help="say what became of a delivery that waits")
    say.add_argument("delivery", help="its id")
    say.add_argument("action", choices=["arrived", "absent", "resend", "close"])
    say.add_argument("--why", required=True, help="how you know; kept with your name")
    say.add_argument(
        "--try", dest="attempt", type=int, help="the one that todo showed; no other is decided on"
    )
    add_key_argument(say)


def todo(chosen: argparse.Namespace, client: ApiClient, out: TextIO) -> int:
    """List what waits."""
    query: dict[str, Any] = {"state": chosen.state or ["IN_DOUBT", "HELD"]}
    query |= {"channel": chosen.channel} if chosen.channel else {}
    most = None if chosen.limit is None else max(1, chosen.limit)
    rows = list(islice(all_rows(client, "/v1/deliveries", query), most))
    show(rows, chosen.json, out, _line)
    if not rows and not chosen.json:
        dead = "" if chosen.state else _dead_letters(client, chosen.channel)
        out.write(f"nothing waits{dead}\n")
    return 0


def _dead_letters(client: ApiClient, channel: str | None) -> str:
    """Say how many failed, which wait for a person too if nobody else was told."""
    query = {"state": ["FAILED"], "limit": COUNTED} | ({"channel": channel} if channel else {})
    page = client.ask("GET", "/v1/deliveries", query=query)
    count = f"{len(page['rows'])}{'+' if page.get('next_cursor') else ''}"
    return f"; {count} failed for good: see aldebaran todo --state FAILED" if page["rows"] else ""


def _line(each: dict[str, Any]) -> str:
    age = f"{each['age_ms'] / 3_600_000:.1f} h"
    head = f"{each['delivery_id']} {each['state']:8} {age:>8} try {each['attempt']}"
    whom = f"{each['channel']} to {each['recipient']}"
    return f"{head} {whom}: {each['summary']} ({each['reason']})"


def say(chosen: argparse.Namespace, client: ApiClient, out: TextIO) -> int:
    """Give a person's word."""
    body = {"action": chosen.action, "why": chosen.why}
    tried = {} if chosen.attempt is None else {"attempt": chosen.attempt}
    path = f"/v1/deliveries/{in_path(chosen.delivery)}/word"
    ask_once(client, path, body | tried, chosen.key)
    out.write("done\n")
    return 0
