"""Values as JSON text, also those that the faster writer refuses."""

import json
from collections.abc import Callable
from typing import Any

import orjson


def json_text(value: Any, default: Callable[[Any], Any] = str) -> str:
    """Write a value; the slower way takes what the faster refuses, such as very large numbers."""
    try:
        return orjson.dumps(value, default=default).decode()
    except orjson.JSONEncodeError:
        return json.dumps(value, default=default)
