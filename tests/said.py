"""What a program has written so far, read while it writes on.

Linux shows a reader the first pages of a line before its last, so that the end of a file may be
half a line or half a character, however the writer wrote it; half a line is not there yet.
"""

import json
from pathlib import Path
from typing import Any


def written_to(file: Path) -> str:
    """Return what a file holds up to the end of its last whole line."""
    whole, end, _ = file.read_bytes().rpartition(b"\n")
    return (whole + end).decode()


def whole_lines(written: str) -> list[str]:
    """Return the lines that are complete."""
    return written.split("\n")[:-1]


def said(log: str, event: str | None = None) -> list[dict[str, Any]]:
    """Return our programs' lines, of one event if asked; what others write beside them is left."""
    records = [json.loads(line) for line in whole_lines(log) if line[:1] == "{"]
    return [record for record in records if event in {None, record.get("event")}]
