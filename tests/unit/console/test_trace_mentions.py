"""Whether what was refused names a key: against a plain walk, in every spelling of JSON."""

import json
import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from services.console.tracing.mentions import mentions
from services.contracts.events import EVENT_LIMIT_BYTES

TEXTS = st.text("a1-é/\u20ac\U0001f600", min_size=1, max_size=4)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
KEYS = TEXTS | st.integers().map(str)


def has(value: Any, key: str) -> bool:
    """Tell the same by a plain walk of the value."""
    if isinstance(value, dict):
        return key in value or any(has(each, key) for each in value.values())
    if isinstance(value, list):
        return any(has(each, key) for each in value)
    return isinstance(value, str | int) and not isinstance(value, bool) and str(value) == key


def spellings(value: object) -> list[bytes]:
    """Return the same JSON as different senders write it."""
    ascii_only = json.dumps(value)
    large = re.sub(r"\\u[0-9a-f]{4}", lambda one: r"\u" + one[0][2:].upper(), ascii_only)
    texts = (
        ascii_only,
        large,
        json.dumps(value, ensure_ascii=False, separators=(",", ":")),
        json.dumps(value, indent=2).replace("/", r"\/"),
    )
    return [each.encode() for each in texts]


@given(VALUES, KEYS)
@example({"order_id": 4711, "shares": 1}, "4711")
@example({"order_id": 2**80}, str(2**80))
@example([[{"a": ["é-1"]}]], "é-1")
@example({"a": 47110, "b": 1.4711, "c": True}, "4711")
def test_a_key_is_found_however_it_is_spelled(value: Any, key: str) -> None:
    told = {mentions(each, key) for each in spellings(value)}
    assert told == {has(value, key)}


@given(VALUES, TEXTS | st.integers())
def test_a_key_deep_inside_is_found(value: Any, key: str | int) -> None:
    for each in spellings({"rows": [value, {"k": [key]}]}):
        assert mentions(each, str(key))


@pytest.mark.parametrize(
    ("original", "is_found"),
    [
        (b'{"k": 4711', True),
        (b"kind;4711;12", True),
        (b"4711", True),
        (b'{"k": 47110', False),
        (b"kind;x-4711;12", False),
        ("é4711".encode(), False),
        (b"\xff 4711", True),
        (b"[" * 5000 + b"4711" + b"]" * 5000, True),
        (b'{"pad": "' + b"x" * EVENT_LIMIT_BYTES + b'", "k": 4711}', True),
        (b'{"text": "pay 4711 now"}', False),
        (b"", False),
    ],
)
def test_of_what_is_no_json_the_key_s_bytes_are_looked_for(original: bytes, is_found: bool) -> None:
    assert mentions(original, "4711") is is_found


@given(st.binary(max_size=100), st.text(min_size=1, max_size=5))
def test_nothing_stops_it(original: bytes, key: str) -> None:
    mentions(original, key)
    mentions(b"\\" + original, key)
    assert mentions(original + json.dumps(key).encode(), key)
