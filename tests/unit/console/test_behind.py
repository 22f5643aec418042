"""What is said of the events behind an alert, where they were looked for and where not."""

import pytest

from services.console.behind import NOT_READ, Behind, Looked, Unread, unread
from services.console.rendering import render

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
