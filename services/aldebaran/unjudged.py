"""`unjudged`: events that no watch judged, as the archivist's accounts list them."""

import argparse
from typing import Any, Final, TextIO

from services.aldebaran.newest import Told, newest
from services.aldebaran.remarks import Remarks
from services.aldebaran.rows import show
from services.aldebaran.times import utc
from services.backbone.web.client import ApiClient
from services.backbone.writing import json_text

_NOTHING: Final = (
    "nothing, as far as is kept: accounts of a running archivist list it, the shipped one an hour "
    "or more after the event"
)


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    made = commands.add_parser("unjudged", help="events that no watch judged, newest first")
    made.add_argument("--limit", type=int, default=20, help="at most so many (20)")
    made.add_argument("--contains", default="", metavar="TEXT", help="only what has this text")
    made.add_argument("--json", action="store_true", help="a line of JSON each")


def unjudged(chosen: argparse.Namespace, client: ApiClient, out: TextIO) -> int:
    """List the newest."""
    told, query = Told(), {"contains": chosen.contains}
    for rows in newest(client, "/v1/unjudged", query, chosen.limit, told):
        show(rows, chosen.json, out, line)
    told.remark(Remarks(out, chosen.json), _NOTHING)
    return 0


def line(each: dict[str, Any]) -> str:
    """Return one row as people read it: when the event came, and what of it the account tells."""
    came = utc(each["appended_at_ms"])
    if each["detail"]:
        return f"{came} {each['reason']}: {each['detail']} [{each['place']}]"
    told = " ".join(
        f"{name}={value if isinstance(value, str) else json_text(value)}"
        for name, value in {**each["key"], **each["values"]}.items()
    )
    return f"{came} {each['account']}: {each['reason']}: {told} [listed {utc(each['at_ms'])}]"
