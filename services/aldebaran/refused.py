"""`rejected`: what was refused of a stream, why, and the original."""

import argparse
import json
from typing import Any, TextIO

from services.aldebaran.remarks import Remarks
from services.aldebaran.times import utc
from services.backbone.lines import harmless
from services.backbone.web.client import ApiClient, in_path


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    made = commands.add_parser("rejected", help="what was refused of a stream, newest first")
    made.add_argument("stream", help="for example halls; or alerts, or deliveries.CHANNEL")
    made.add_argument("--limit", type=int, default=20, help="at most so many (20; 200 at most)")
    made.add_argument("--contains", default="", metavar="TEXT", help="only what has this text")
    made.add_argument("--json", action="store_true", help="a line of JSON each")


def rejected(chosen: argparse.Namespace, client: ApiClient, out: TextIO) -> int:
    """List the newest."""
    query = {"limit": chosen.limit, "contains": chosen.contains}
    told = client.ask("GET", f"/v1/streams/{in_path(chosen.stream)}/rejected", query=query)
    for each in told["rows"]:
        out.write(f"{json.dumps(each)}\n" if chosen.json else lines(each))
    remarks, looked = Remarks(out, chosen.json), told["looked"]
    if not looked["whole"]:
        remarks.say(f"there may be older ones: {looked['records']} records were looked through")
    elif not told["rows"]:
        remarks.say("nothing" if chosen.contains else "nothing was refused, as far as is kept")
    return 0


def lines(each: dict[str, Any]) -> str:
    """Return one refused input as people read it: its head, and the original below."""
    source = each["source"] or "nobody who is named"
    head = f"{utc(each['at_ms'])} {each['reason']}: {each['detail']} [{source}]"
    notes = [
        *(["base64"] if each["encoding"] == "base64" else []),
        *([f"cut: only the beginning of {each['size_bytes']} bytes"] if each["cut"] else []),
    ]
    note = f"({'; '.join(notes)}) " if notes else ""
    return f"{harmless(head)}\n    {note}{harmless(each['original'])}\n"
