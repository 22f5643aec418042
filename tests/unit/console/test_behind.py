"""What is said of the events behind an alert, where they were looked for and where not."""

import json

import pytest

from services.backbone.kafka.consumer import Incoming
from services.console.behind import NOT_READ, Behind, Looked, Unread, events, has_all, unread
from services.console.rendering import render
from services.contracts.records import SHORT_LIMIT_CHARACTERS

NOT_THERE = "The streams have no event of it"
NO_IDS = "The alert names no events"
NO_WATCH = "Its watch is not declared here"
CUT = "records of the time before it"


def shown(events_looked: Looked, why: Unread = "") -> set[str]:
    """Return which of the sentences about events are shown."""
    found = Behind((), (), Looked(3, whole=True), events_looked, False, why)
    page = render("behind.html", found=found, trouble="")
    return {each for each in (NOT_THERE, NO_IDS, NO_WATCH, CUT) if each in page}


@pytest.mark.parametrize(
    ("ids", "streams", "why"),
    [
        ((), (), "no_ids"),
        ((), ("halls",), "no_ids"),
        (("e-1",), (), "no_watch"),
        (("e-1",), ("halls",), ""),
    ],
)
def test_no_stream_is_read_without_ids_or_a_watch(
    ids: tuple[str, ...], streams: tuple[str, ...], why: Unread
) -> None:
    assert unread(ids, streams) == why


def test_each_case_has_its_own_sentence() -> None:
    assert shown(Looked(40, whole=True)) == {NOT_THERE}
    assert shown(Looked(40, whole=False)) == {CUT}
    assert shown(NOT_READ[1], "no_ids") == {NO_IDS}
    assert shown(NOT_READ[1], "no_watch") == {NO_WATCH}


LONG = "é" * SHORT_LIMIT_CHARACTERS


@pytest.mark.parametrize(
    ("original", "event_id"),
    [
        (b'{"id": "e-1"}', "e-1"),
        (b'{"id": 4711}', "4711"),
        (b'{"id": -9007199254740993}', "-9007199254740993"),
        (b'{"id": "M\\u00fcller-1"}', "Müller-1"),
        (b'{"id": "a\\/\\"b\\""}', 'a/"b"'),
        (json.dumps({"id": f"{LONG}x"}).encode(), LONG),
        (json.dumps({"id": f"{LONG}x"}, ensure_ascii=False).encode(), LONG),
    ],
)
def test_an_event_is_found_however_its_id_is_spelled(original: bytes, event_id: str) -> None:
    others = (b'{"id": 47110, "b": true, "c": 4711.5, "of": ["4711"]}', b"e-1, 4711", b'["e-1"]')
    found = [Incoming("s", 0, 0, None, each, 5) for each in (*others, original)]
    told = events(found, [event_id])
    assert [each.text for each in told] == [original.decode()]
    assert has_all(told, [event_id])
