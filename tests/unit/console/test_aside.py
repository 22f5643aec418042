"""What is shown of a refused record, whatever stands on its topic."""

import base64

from hypothesis import given
from hypothesis import strategies as st

from services.backbone.kafka.consumer import Incoming
from services.console.aside import WHOLE_LIMIT_BYTES, fitting, shown
from services.console.newest_first import SHOWN_LIMIT_BYTES, UNREADABLE
from services.console.rendering import render
from services.contracts.records import Rejected

ORIGINALS = st.binary(max_size=200) | st.text(max_size=100).map(str.encode)


def record(value: bytes, offset: int = 7) -> Incoming:
    return Incoming("things.rejected", 0, offset, None, value, 1000)


def kept_aside(original: bytes, detail: str = "no amount") -> Incoming:
    told = Rejected.of(
        topic="things", source="http robot 7", reason="invalid_field", detail=detail,
        original=original, at_ms=2000,
    )  # fmt: skip
    return record(told.encode())


def test_a_row_says_when_why_and_where_from() -> None:
    (row,) = fitting([kept_aside(b'{"amount": -5}')], "")
    assert (row.place, row.at_ms, row.source) == ("things.rejected/0/7", 2000, "http robot 7")
    assert (row.reason, row.detail) == ("invalid_field", "no amount")
    assert (row.original, row.encoding) == ('{"amount": -5}', "utf-8")
    assert (row.size_bytes, row.cut) == (14, False)


@given(ORIGINALS)
def test_a_short_original_is_shown_whole(original: bytes) -> None:
    text, encoding = shown(original)
    assert (base64.b64decode(text) if encoding == "base64" else text.encode()) == original


@given(st.text(min_size=1, max_size=4), st.integers(-3, 3))
def test_long_text_is_cut_between_characters(text: str, more: int) -> None:
    whole = (text * SHOWN_LIMIT_BYTES).encode()[: SHOWN_LIMIT_BYTES + more]
    original = whole.decode(errors="ignore").encode()
    told, encoding = shown(original)
    assert encoding == "utf-8"
    assert original.decode().startswith(told)
    most = min(len(original), SHOWN_LIMIT_BYTES)
    assert most - 3 <= len(told.encode()) <= most


def test_what_is_cut_says_so_and_one_byte_that_is_no_text_makes_all_of_it_base64() -> None:
    long = b"a" * (SHOWN_LIMIT_BYTES + 1)
    text, binary = fitting([kept_aside(long), kept_aside(long + b"\xff")], "")
    assert (text.cut, text.encoding, len(text.original)) == (True, "utf-8", SHOWN_LIMIT_BYTES)
    assert (binary.cut, binary.encoding) == (True, "base64")
    assert base64.b64decode(binary.original) == long[:SHOWN_LIMIT_BYTES]
    assert binary.size_bytes == SHOWN_LIMIT_BYTES + 2


@given(st.binary(max_size=60))
def test_what_is_no_record_of_ours_is_shown_as_it_stands(value: bytes) -> None:
    (row,) = fitting([record(value)], "")
    assert (row.reason, row.at_ms, row.size_bytes) == (UNREADABLE, 1000, len(value))


def test_an_original_that_is_no_base64_is_shown_as_it_stands() -> None:
    value = kept_aside(b"x").value.replace(b'"eA=="', b'"e"')
    (row,) = fitting([record(value)], "")
    assert (row.reason, row.original) == (UNREADABLE, value.decode())


@given(st.lists(ORIGINALS, max_size=5), st.text(max_size=2))
def test_those_that_contain_a_text_are_found_in_their_order(
    originals: list[bytes], text: str
) -> None:
    read = [kept_aside(each, detail="") for each in originals]
    words = ("invalid_field", "http robot 7")
    wanted = [
        shown(each)[0]
        for each in originals
        if text.encode() in each or any(text in word for word in words)
    ]
    assert [row.original for row in fitting(read, text)] == wanted


def test_the_page_escapes_what_was_sent() -> None:
    html = render(
        "refused.html", title="x", here="", said="", may=lambda _: False, contains='"><script>',
        person=type("P", (), {"name": ""})(),
        page={
            "stream": "things", "looked": {"records": 1, "whole": True},
            "rows": list(fitting([kept_aside(b"<script>alert(1)</script>", "<b>")], "")),
        },
    )  # fmt: skip
    assert "<script>alert" not in html
    assert '"><script>' not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "&lt;b&gt;" in html


def test_an_original_is_whole_up_to_the_longest_event() -> None:
    long = b"a" * WHOLE_LIMIT_BYTES
    whole, longer = fitting([kept_aside(long), kept_aside(long + b"a")], "", WHOLE_LIMIT_BYTES)
    assert (whole.original, whole.cut) == (long.decode(), False)
    assert (len(longer.original), longer.cut) == (WHOLE_LIMIT_BYTES, True)
