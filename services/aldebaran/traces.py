"""`trace`, `traces`: follow one key in detail for a while, and see its steps as they come."""

import argparse
import threading
import uuid
from collections.abc import Iterator
from typing import Any, Final, TextIO

from services.aldebaran.client import CommandSettings, all_rows
from services.aldebaran.remarks import Remarks
from services.aldebaran.rows import show
from services.aldebaran.times import utc
from services.backbone.clock import Clock
from services.backbone.errors import Refused, Transient
from services.backbone.lines import tell
from services.backbone.settings import read_settings
from services.backbone.web.client import ApiClient

LOOK_SECONDS: Final = 1.0
CLOSING_SECONDS: Final = 60.0
"""So long after the end its last line is waited for: half a minute where the brokers answer."""


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the commands."""
    trace = commands.add_parser("trace", help="follow one key in detail; Ctrl-C leaves it on")
    trace.add_argument("key", help="as its stream's events carry it")
    trace.add_argument("--minutes", type=int, default=15, help="then it ends by itself (15)")
    trace.add_argument("--why", default="by the command line", help="shown to everybody")
    trace.add_argument("--end", action="store_true", help="end its trace now")
    trace.add_argument("--json", action="store_true", help="a line of JSON each")
    commands.add_parser("traces", help="traces, newest first")


def traces(client: ApiClient, out: TextIO) -> int:
    """List traces."""
    for each in all_rows(client, "/v1/traces"):
        state = "on  " if each["is_on"] else "over"
        until = f"until {utc(each['ends_at_ms'])}"
        tell(out, f"{state} {each['key']}: {each['person']}: {each['why']}, {until}")
    return 0


def trace(chosen: argparse.Namespace, client: ApiClient, clock: Clock, out: TextIO) -> int:
    """Begin a trace, or join the one that is on, and follow it until it ends."""
    trace_id = _on(client, chosen.key)
    if chosen.end:
        if trace_id is None:
            raise Refused(f"no trace of {chosen.key} is on")
        client.ask("DELETE", f"/v1/traces/{trace_id}")
        tell(out, f"the trace of {chosen.key} is over")
        return 0
    if trace_id is None:
        body = {"key": chosen.key, "minutes": chosen.minutes, "why": chosen.why}
        trace_id = client.ask("POST", "/v1/traces", body, key=uuid.uuid4().hex)["trace_id"]
    _follow(trace_id, chosen.json, client, clock, out)
    return 0


def _on(client: ApiClient, key: str) -> str | None:
    found = (each for each in all_rows(client, "/v1/traces") if each["is_on"])
    return next((str(each["trace_id"]) for each in found if each["key"] == key), None)


def _follow(trace_id: str, as_json: bool, client: ApiClient, clock: Clock, out: TextIO) -> None:
    remarks, trouble = Remarks(out, as_json), None
    over_at: float | None = None
    for number, page in enumerate(_looks(trace_id, remarks, client, clock)):
        trace, now = page["trace"], clock.monotonic_seconds()
        if number == 0 and not as_json:
            remarks.say(f"{trace['key']} is traced until {utc(trace['ends_at_ms'])}")
        if page["trouble"] and page["trouble"] != trouble:
            remarks.say(f"the topics cannot be read now: {page['trouble']}")
        trouble = page["trouble"]
        show(page["rows"], as_json, out, _line)
        if over_at is None and not trace["is_on"]:
            over_at = now
        if page["rows"] or over_at is None:
            continue
        if trace["is_closed"]:
            remarks.say(f"what was under way is followed for a while more: {_where(trace_id)}")
            return
        if now - over_at >= CLOSING_SECONDS:
            remarks.say(f"it is over, and still being read; see {_where(trace_id)}")
            return


def _looks(
    trace_id: str, remarks: Remarks, client: ApiClient, clock: Clock
) -> Iterator[dict[str, Any]]:
    """Yield what each look finds, without an end; after lines it looks again at once."""
    after = 0
    while True:
        try:
            page = client.ask("GET", f"/v1/traces/{trace_id}/lines", query={"after": after})
        except Transient as error:
            remarks.away(error)
        else:
            remarks.answered()
            after = page["next_after"]
            yield page
            if page["rows"]:
                continue
        clock.wait(threading.Event(), LOOK_SECONDS)


def _line(each: dict[str, Any]) -> str:
    return f"{utc(each['at_ms'])} {each['step'].lower():10} {each['detail']}"


def _where(trace_id: str) -> str:
    return f"{read_settings(CommandSettings).console_url.rstrip('/')}/traces/{trace_id}"
