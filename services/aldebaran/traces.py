"""`trace`, `traces`: follow one key in detail for a while, and see its steps as they come."""

import argparse
import json
import threading
import uuid
from typing import Any, Final, TextIO

from services.aldebaran.client import all_rows
from services.aldebaran.remarks import Remarks
from services.aldebaran.times import utc
from services.backbone.clock import Clock
from services.backbone.errors import Refused, Transient
from services.backbone.lines import tell
from services.backbone.web.client import ApiClient

LOOK_SECONDS: Final = 1.0
LAST_LOOKS: Final = 3
"""After the end, for what was still being written."""


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
    after, told, quiet = 0, False, 0
    remarks = Remarks(out, as_json)
    while True:
        try:
            page = client.ask("GET", f"/v1/traces/{trace_id}/lines", query={"after": after})
        except Transient as error:
            remarks.away(error)
            clock.wait(threading.Event(), LOOK_SECONDS)
            continue
        remarks.answered()
        if not told and not as_json:
            until = utc(page["trace"]["ends_at_ms"])
            remarks.say(f"{page['trace']['key']} is traced until {until}")
        told, after = True, page["next_after"]
        for each in page["rows"]:
            if as_json:
                out.write(f"{json.dumps(each)}\n")
            else:
                tell(out, _line(each))
        out.flush()
        if not page["rows"]:
            quiet += not page["trace"]["is_on"]
            if quiet > LAST_LOOKS:
                return
            clock.wait(threading.Event(), LOOK_SECONDS)


def _line(each: dict[str, Any]) -> str:
    return f"{utc(each['at_ms'])} {each['step'].lower():10} {each['detail']}"
