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
            out.write(f"{json.dumps(each)}\n")
        else:
            tell(out, line(each))
    out.flush()
