"""Whether what was refused names a key, however its sender has spelled it."""

import json
import re
from typing import Any, Final

import orjson
from pydantic_core import from_json

from services.console.spelling import may_have
from services.contracts.events import EVENT_LIMIT_BYTES

_OF_A_WORD: Final = rb"[\w\x80-\xff-]"


def mentions(original: bytes, key: str) -> bool:
    """Tell whether a key is a name, a text or a whole number in what was refused.

    JSON is read as its values; of anything else, and of JSON that is broken or longer than an
    event may be, the key's own bytes are looked for, as a whole word.
    """
    if orjson.dumps(key) in original or json.dumps(key).encode() in original:
        return True
    plain = key.encode()
    # A trace looks at every refused record of a stream: of most, it is seen here that they are not
    # the key's.
    if not may_have(original, (plain,)):
        return False
    try:
        return key in _texts(_parsed(original))
    except ValueError:
        whole = rb"(?<!%b)%b(?!%b)" % (_OF_A_WORD, re.escape(plain), _OF_A_WORD)
        return re.search(whole, original) is not None


def _parsed(original: bytes) -> Any:
    """Read JSON, whole numbers of any size exactly; it is refused when nested too deep."""
    if len(original) > EVENT_LIMIT_BYTES:
        raise ValueError("longer than an event")
    return from_json(original)


def _texts(value: Any) -> set[str]:
    """Return all names, texts and whole numbers of a JSON value, at any depth."""
    found: set[str] = set()
    left = [value]
    while left:
        each = left.pop()
        if isinstance(each, dict):
            found.update(each)
            left.extend(each.values())
        elif isinstance(each, list):
            left.extend(each)
        elif isinstance(each, str) or type(each) is int:  # True is an int, too.
            found.add(str(each))
    return found
