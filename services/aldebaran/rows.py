"""What was found, one line for each, for people or for programs."""

import json
from collections.abc import Callable, Iterable
from typing import Any, TextIO

from services.backbone.lines import tell


def show(
    rows: Iterable[dict[str, Any]],
    as_json: bool,
    out: TextIO,
    line: Callable[[dict[str, Any]], str],
) -> None:
    """Write rows at once, as JSON or each as its `line`."""
    for each in rows:
        if as_json:
            out.write(json_line(each))
        else:
            tell(out, line(each))
    out.flush()


def json_line(each: dict[str, Any]) -> str:
    """Return a row as programs read it."""
    return f"{json.dumps(each)}\n"
