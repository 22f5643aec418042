"""Beats of every shipped watch: valid events but for the reserved prefix, found again by key."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.contracts.events import Event, EventReader, Invalid
from services.contracts.fields import HEARTBEAT_PREFIX
from services.contracts.ids import alert_id
from services.contracts.records import Alert, Severity
from services.contracts.streams import load_streams
from services.contracts.watches import SHIPPED_WATCHES, load_watches
from services.heartbeat.beat_ids import answered_beat, beat_id, run_name
from services.heartbeat.pulse import beat_records

WATCHES = load_watches(SHIPPED_WATCHES)
STREAMS = load_streams()
BEAT = beat_id(run_name("instance", 1), 7)


def answer(key: dict[str, str]) -> Alert:
    return Alert(
        alert_id=alert_id("watch", key.values()),
        watch="watch",
        severity=Severity.INFO,
        summary="",
        key=key,
        appended_at_ms=1,
        detected_at_ms=2,
        auditor="a",
    )


@pytest.mark.parametrize("watch", WATCHES)
def test_a_beat_is_valid_but_for_the_prefix_that_the_gateway_refuses(watch: str) -> None:
    records = beat_records(WATCHES[watch], STREAMS, BEAT)
    assert records
    for record in records:
        stream = record.topic.removesuffix(".heartbeat")
        reader = EventReader(STREAMS[stream])
        refused = reader.read(record.value)
        assert isinstance(refused, Invalid)
        assert "reserved for heartbeats" in refused.detail
        assert record.key.startswith(BEAT)
        ordinary = record.value.replace(HEARTBEAT_PREFIX.encode(), b"beat-")
        assert isinstance(reader.read(ordinary), Event)
        assert orjson.loads(record.value)[STREAMS[stream].key] == record.key


@given(st.integers(0, 2**40 - 1), st.from_regex(r"[^\x00]{0,20}", fullmatch=True))
def test_a_beat_is_found_again_in_the_key_whatever_follows_it(number: int, more: str) -> None:
    beat = beat_id(run_name("instance", 1), number)
    assert answered_beat(answer({"one": "x", "other": beat + more})) == beat


@pytest.mark.parametrize("value", ["x", "~beat-", "~beat-short"])
def test_a_key_without_a_beat_of_ours_answers_nothing(value: str) -> None:
    assert answered_beat(answer({"one": value})) is None
