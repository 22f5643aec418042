"""`alerts`, `why`, `ack`: look at alerts, and take one in hand."""

import argparse
import json
import threading
from collections.abc import Container, Iterator, Sequence
from itertools import islice
from typing import Any, Final, TextIO

from services.aldebaran.client import all_rows
from services.aldebaran.remarks import Remarks
from services.aldebaran.rows import show
from services.aldebaran.times import utc
from services.backbone.clock import Clock
from services.backbone.errors import Refused, Transient
from services.backbone.lines import tell
from services.backbone.web.client import ApiClient, in_path
from services.contracts.ids import ID_LENGTH

TAIL_SECONDS: Final = 1.0
TAIL_ROWS: Final = 100
TAIL_PAGES: Final = 10
REMEMBERED: Final = TAIL_ROWS * TAIL_PAGES
"""Alerts that a tail has shown and does not show again."""


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the commands."""
    alerts = commands.add_parser("alerts", help="list alerts, or follow them")
    actions = alerts.add_subparsers(dest="action", required=True)
    for name, text in (("list", "the newest alerts"), ("tail", "alerts as they come; Ctrl-C ends")):
        action = actions.add_parser(name, help=text)
        action.add_argument("words", nargs="*", help="words of the summary or of labels")
        action.add_argument("--watch", default="")
        action.add_argument("--severity", default="", choices=["", "info", "warning", "critical"])
        action.add_argument("--label", action="append", default=[], metavar="NAME=VALUE")
        action.add_argument("--json", action="store_true", help="a line of JSON each")
        action.add_argument("--limit", type=int, default=20, help="at the beginning (default 20)")
    # Not for a tail: each one that is acknowledged would let an older one in as a new one.
    listing = actions.choices["list"]
    listing.add_argument("--open", action="store_true", help="only what nobody has acknowledged")
    actions.choices["tail"].set_defaults(open=False)
    why = commands.add_parser("why", help="why an alert was sent, or not")
    why.add_argument("alert", help="its id, or the first 8 characters")
    why.add_argument("--json", action="store_true")
    ack = commands.add_parser("ack", help="take an alert in hand")
    ack.add_argument("alert", help="its id, or the first 8 characters")
    ack.add_argument("--note", default="", help="kept with your name; why and the page tell it")


def alerts(chosen: argparse.Namespace, client: ApiClient, clock: Clock, out: TextIO) -> int:
    """List the newest alerts, or follow them until interrupted."""
    query: dict[str, Any] = {
        "q": " ".join(chosen.words),
        "watch": chosen.watch,
        "severity": chosen.severity,
        "label": chosen.label,
        "open": chosen.open,
    }
    limit = max(1, chosen.limit)
    follows = chosen.action == "tail"
    most = max(limit, TAIL_ROWS) if follows else limit
    query["limit"] = min(most, TAIL_ROWS)
    rows = list(islice(all_rows(client, "/v1/alerts", query), most))
    if chosen.open:
        _check_open(rows)
    show(reversed(rows[:limit]), chosen.json, out, _line)
    if follows:
        _follow(chosen, client, clock, out, query, rows)
    return 0


def _check_open(rows: Sequence[dict[str, Any]]) -> None:
    """A console of before takes no notice of what it does not know, and lists all.

    Raises:
        Refused: it has.
    """
    if not all("acknowledged_at_ms" in each for each in rows):
        raise Refused("the console is older and does not know --open: upgrade it, or leave it out")


def _follow(
    chosen: argparse.Namespace,
    client: ApiClient,
    clock: Clock,
    out: TextIO,
    query: dict[str, Any],
    shown: Sequence[dict[str, Any]],
) -> None:
    seen = dict.fromkeys(each["alert_id"] for each in reversed(shown))
    remarks = Remarks(out, chosen.json)
    while True:
        clock.wait(threading.Event(), TAIL_SECONDS)
        try:
            new, are_all = _new(client, query, seen)
        except Transient as error:
            remarks.away(error)
            continue
        remarks.answered()
        if not are_all:
            remarks.say(f"more came at once: these are the newest {len(new)}")
        show(iter(new), chosen.json, out, _line)
        seen |= dict.fromkeys(each["alert_id"] for each in new)
        for old in list(seen)[:-REMEMBERED]:
            del seen[old]


def _new(
    client: ApiClient, query: dict[str, Any], seen: Container[str]
) -> tuple[list[dict[str, Any]], bool]:
    """Return the alerts that were not shown, the oldest first, and whether these are all."""
    found: list[dict[str, Any]] = []
    for _ in range(TAIL_PAGES):
        page = client.ask("GET", "/v1/alerts", query=query)
        new = [each for each in page["rows"] if each["alert_id"] not in seen]
        found += new
        if len(new) < len(page["rows"]) or page["next_cursor"] is None:
            return found[::-1], True
        query = {**query, "cursor": page["next_cursor"]}
    return found[::-1], False


def _line(alert: dict[str, Any]) -> str:
    told = ", ".join(f"{each['channel']} {each['state'].lower()}" for each in alert["deliveries"])
    told += f" and {alert['more_deliveries']} more" if alert.get("more_deliveries") else ""
    head = f"{utc(alert['accepted_at_ms'])} {alert['alert_id'][:8]} {alert['severity']:8}"
    taken = ", acknowledged" if alert.get("acknowledged_at_ms") is not None else ""
    return f"{head} {alert['watch']}: {alert['summary']} [{told or 'nobody is told'}]{taken}"


def why(chosen: argparse.Namespace, client: ApiClient, out: TextIO) -> int:
    """Show each route that was asked, and per recipient one sentence and what led to it."""
    told = client.ask("GET", f"/v1/why/{in_path(chosen.alert)}")
    if chosen.json:
        out.write(f"{json.dumps(told)}\n")
        return 0
    for line in _why_lines(told):
        tell(out, line)
    return 0


def _why_lines(told: dict[str, Any]) -> Iterator[str]:
    yield f"[{told['severity'].upper()}] {told['watch']}: {told['summary']}"
    yield f"alert {told['alert_id']}, taken in {utc(told['accepted_at_ms'])}"
    if told["acknowledged_at_ms"] is not None:
        yield f"acknowledged {utc(told['acknowledged_at_ms'])}"
    for route in told["considered"]:
        answer = "yes" if route["fits"] else "no "
        yield f"  {'  ' * route['depth']}{answer} {route['name']}: {route['why']}"
    yield from map(_happened, told["happened"])
    for each in told["repeats"]:
        copies = "1 copy" if each["copies"] == 1 else f"{each['copies']} copies"
        at = utc(each["last_at_ms"])
        yield f"  {at} dropped as a repeat: {copies} by auditor {each['auditor']}"
    for each in told["recipients"]:
        yield ""
        yield f"{each['channel']} to {each['recipient']}: {each['sentence']}"
        yield from map(_happened, each["happened"])
    if told.get("cut"):
        yield ""
        yield f"only the first are here of: {', '.join(told['cut'])}"


def _happened(each: dict[str, Any]) -> str:
    return f"  {utc(each['at_ms'])} {each['what']}: {each['detail']}"


def acknowledge(chosen: argparse.Namespace, client: ApiClient, out: TextIO) -> int:
    """Take an alert in hand."""
    body, alert_id = {"note": chosen.note}, _whole_id(chosen.alert.strip(), client)
    told = client.ask("POST", f"/v1/alerts/{in_path(alert_id)}/acknowledge", body)
    first = "yours" if told["new"] else "noted" if told.get("noted") else "noted before"
    tell(out, f"{first}; first was {told['first']}")
    return 0


def _whole_id(begin: str, client: ApiClient) -> str:
    """Return the id of the one alert that begins so; the console refuses several, or none."""
    if len(begin) >= ID_LENGTH:
        return begin
    return str(client.ask("GET", f"/v1/why/{in_path(begin)}")["alert_id"])
