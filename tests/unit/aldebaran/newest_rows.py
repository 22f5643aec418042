"""A console that has rows, the newest first, and gives them page by page; what is said of it."""

import io
from typing import Any

from services.aldebaran.__main__ import carry_out, parser
from services.backbone.clock import ManualClock


class Api:
    """Notes which path was asked for what."""

    def __init__(self, *rows: dict[str, Any]) -> None:
        self._rows = rows
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def ask(self, _: str, path: str, query: dict[str, Any]) -> dict[str, Any]:
        self.asked.append((path, query))
        first = int(query.get("cursor", 0))
        end = first + query["limit"]
        further = str(end) if end < len(self._rows) else None
        looked = {"records": query["limit"], "whole": further is None}
        return {"rows": self._rows[first:end], "looked": looked, "next_cursor": further}


def run(api: Any, command: str) -> list[str]:
    """Return the lines that a command says, which must go well."""
    out = io.StringIO()
    assert carry_out(parser().parse_args(command.split()), api, ManualClock(), out) == 0
    return out.getvalue().splitlines()
