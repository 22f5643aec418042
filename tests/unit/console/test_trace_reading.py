"""When a trace's topics are read to its end: against a model of whole logs."""

from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from services.backbone.kafka.consumer import Incoming
from services.console.tracing.reading import TOPICS_SECONDS, is_in, is_read, over_at_ms
from services.console.tracing.store import Trace
from services.contracts.topics import ACCOUNTS, ALERTS

TRACE = Trace(
    trace_id="0" * 32, key="o-1", person="ann", why="w",
    begun_at=datetime(2026, 11, 29, tzinfo=UTC), begun_at_ms=1000, ends_at_ms=2000, is_on=False,
    places={}, is_closed=False,
)  # fmt: skip
LOGS = st.dictionaries(
    st.sampled_from(["a/0", "a/1", "b/0"]), st.lists(st.integers(0, 20), max_size=6).map(sorted)
)


@given(LOGS, st.integers(0, 21), st.data())
def test_it_is_read_when_nothing_from_before_the_end_is_left(
    logs: dict[str, list[int]], over_at: int, data: st.DataObject
) -> None:
    ends = {place: sum(each < over_at for each in log) for place, log in logs.items()}
    places = {
        place: data.draw(st.integers(0, len(log)), place)
        for place, log in logs.items()
        if data.draw(st.booleans(), f"{place} is read")
    }
    left = [
        each
        for place, log in logs.items()
        for each in log[places.get(place, 0) :]
        if each < over_at
    ]
    assert is_read(places, ends) is not bool(left)


@given(st.sampled_from(["things", "things.rejected", ALERTS, ACCOUNTS]), st.integers(0, 40_000))
def test_what_follows_from_an_event_in_time_belongs_to_it(topic: str, at_ms: int) -> None:
    each = Incoming(topic, 0, 7, b"o-1", b"", at_ms)
    room_ms = int(TOPICS_SECONDS * 1000) if topic in (ALERTS, ACCOUNTS) else 0
    assert is_in(TRACE, each) is (1000 <= at_ms < 2000 + room_ms)
    assert not (is_in(TRACE, each) and at_ms >= over_at_ms(TRACE))
    assert not is_in(replace(TRACE, begun_at_ms=at_ms + 1), each)
