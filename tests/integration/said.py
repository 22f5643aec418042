"""What a program has said in its log so far."""

import json
from typing import Any


def said(log: str) -> list[dict[str, Any]]:
    """Return our programs' lines; what others write beside them, and half a line, is left out."""
    whole = log.rpartition("\n")[0]
    return [json.loads(line) for line in whole.splitlines() if line[:1] == "{"]
