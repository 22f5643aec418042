"""`rejected`: what was refused of a stream, why, and the original."""

import argparse
import json
from dataclasses import dataclass, field
from typing import Any, Final, TextIO

from services.aldebaran.newest import Told, newest
from services.aldebaran.remarks import Remarks
from services.aldebaran.rows import json_line
from services.aldebaran.times import utc
from services.backbone.lines import harmless
from services.backbone.web.client import ApiClient, in_path

ON_RAMPS: Final = ("http ", "amqp ")
"""How the sources of what never came to the stream begin; all else stands in it already."""


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    made = commands.add_parser("rejected", help="what was refused of a stream, newest first")
    made.add_argument("stream", help="for example halls; or alerts, or deliveries.CHANNEL")
    made.add_argument("--limit", type=int, default=20, help="at most so many (20)")
    made.add_argument("--contains", default="", metavar="TEXT", help="only what has this text")
    form = made.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="a line of JSON each")
    again = "to send again: the events that never came to the stream, a line each, oldest first"
    form.add_argument("--originals", action="store_true", help=again)


@dataclass
class Refused(Told):
    """What the console has told so far of what was refused."""

    originals: list[str] = field(default_factory=list)
    """What may be sent again, the newest first; empty unless it is asked for."""


def rejected(chosen: argparse.Namespace, client: ApiClient, out: TextIO) -> int:
    """List the newest, or write their originals."""
    found, remarks = Refused(), Remarks(out, chosen.json or chosen.originals)
    path = f"/v1/streams/{in_path(chosen.stream)}/rejected"
    query = {"contains": chosen.contains, "whole": chosen.originals}
    for rows in newest(client, path, query, chosen.limit, found):
        if chosen.originals:
            found.originals += [one_line(each["original"]) for each in rows if may_come_again(each)]
        else:
            out.writelines(json_line(each) if chosen.json else lines(each) for each in rows)
            out.flush()
    if chosen.originals:
        _write_originals(found, out, remarks)
    nothing = "nothing" if chosen.contains else "nothing was refused, as far as is kept"
    found.remark(remarks, nothing)
    return 0


def _write_originals(found: Refused, out: TextIO, remarks: Remarks) -> None:
    out.writelines(f"{each}\n" for each in reversed(found.originals))
    out.flush()
    if left_out := found.count - len(found.originals):
        remarks.say(f"{left_out} left out: in the stream already, over 64 KiB, or no JSON")


def may_come_again(each: dict[str, Any]) -> bool:
    """Tell whether a gateway may take it one day: all of it is here, and the stream lacks it."""
    is_whole_text = each["encoding"] == "utf-8" and not each["cut"]
    if not is_whole_text or not each["source"].startswith(ON_RAMPS):
        return False
    try:
        json.loads(each["original"])
    except (ValueError, RecursionError):
        return False
    return True


def one_line(event: str) -> str:
    """Return JSON on one line that moves no terminal, and says the same."""
    # Between what JSON says there are no other signs that cannot be printed than these three.
    return "".join(
        each if each.isprintable() else " " if each in "\t\r\n" else json.dumps(each)[1:-1]
        for each in event
    )


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
