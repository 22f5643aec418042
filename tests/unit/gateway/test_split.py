"""Splitting: no event is lost, and originals are the very bytes that were sent."""

import json
from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from services.contracts.events import Invalid
from services.gateway.media import Form
from services.gateway.scan import elements
from services.gateway.split import Elements, Lines, Single, Unreadable, split

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
SCALARS = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
SPACE = st.text(" \t\r\n", max_size=3)


@st.composite
def written(draw: st.DrawFn) -> bytes:
    """One JSON value in one of the ways to write it."""
    value = draw(JSON)
    indent = draw(st.sampled_from([None, 0, 2]))
    return json.dumps(value, ensure_ascii=draw(st.booleans()), indent=indent).encode()


@given(st.lists(st.tuples(SPACE, written(), SPACE)), SPACE, SPACE)
def test_elements_of_an_array_keep_their_exact_bytes(
    parts: list[tuple[str, bytes, str]], before: str, after: str
) -> None:
    inner = b",".join(left.encode() + each + right.encode() for left, each, right in parts)
    array = before.encode() + b"[" + inner + b"]" + after.encode()
    assert list(elements(array)) == [each for _, each, _ in parts]


@given(st.lists(written()), st.data())
def test_only_the_wanted_originals_are_returned(parts: list[bytes], data: st.DataObject) -> None:
    body = b"[" + b",".join(parts) + b"]"
    found = split(body, Form.LOOK)
    assert isinstance(found, Elements | Lines)
    wanted = sorted(data.draw(st.sets(st.integers(0, len(parts) - 1)))) if parts else []
    assert found.originals(wanted) == [parts[index] for index in wanted]


def test_elements_with_brackets_and_commas_inside_strings() -> None:
    array = rb'[ {"a": "],}{["} , "\\\",]" , [1, {"b": [ ]}], {} , 5]'
    assert list(elements(array)) == [
        rb'{"a": "],}{["}',
        rb'"\\\",]"',
        rb'[1, {"b": [ ]}]',
        b"{}",
        b"5",
    ]


@given(st.lists(JSON, max_size=6), st.sampled_from([b"\n", b"\r\n", b"\n\n", b"\n \n"]))
def test_lines_are_events(values: list[Any], end: bytes) -> None:
    lines = [orjson.dumps(value) for value in values]
    found = split(end.join(lines) + end, Form.LINES)
    assert [each.strip() for each in found.originals(range(len(found)))] == lines


@given(JSON)
def test_a_single_value_is_one_event(value: Any) -> None:
    body = orjson.dumps(value)
    found = split(body, Form.LOOK)
    assert isinstance(found, Elements) if isinstance(value, list) else isinstance(found, Single)


@given(st.lists(st.dictionaries(TEXT, SCALARS, max_size=3), min_size=2, max_size=5))
def test_lines_are_recognised_without_their_type(values: list[dict[str, Any]]) -> None:
    body = b"\n".join(orjson.dumps(value) for value in values)
    found = split(body, Form.LOOK)
    assert isinstance(found, Lines)
    assert len(found) == len(values)


def test_a_broken_line_is_one_bad_event_among_good_ones() -> None:
    found = split(b'{"a":1}\n{"a":\n{"a":3}', Form.LOOK)
    assert found.originals([0, 1, 2]) == [b'{"a":1}', b'{"a":', b'{"a":3}']


def test_a_broken_body_is_one_unreadable_event_with_the_place_of_the_mistake() -> None:
    found = split(b'[{"a":1},\n {"a" 2}]', Form.LOOK)
    assert isinstance(found, Unreadable)
    assert found.why == Invalid("not_json", found.why.detail)
    assert "line 2 column 7" in found.why.detail
    assert found.originals([0]) == [b'[{"a":1},\n {"a" 2}]']


@given(st.binary(max_size=200), st.sampled_from(Form))
def test_any_bytes_split(body: bytes, form: Form) -> None:
    found = split(body, form)
    assert len(found.originals(range(len(found)))) == len(found)
