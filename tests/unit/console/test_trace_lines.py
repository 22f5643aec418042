"""From records to a trace's lines; whatever stands on a topic gives a line or none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.backbone.kafka.consumer import Incoming
from services.console.tracing.lines import lines_of
from services.contracts.records import Accounted, Alert, Rejected, Severity
from services.contracts.topics import ACCOUNTS, ALERTS

KEY, STREAMS = "o-1", ("things",)


def record(topic: str, value: bytes, offset: int = 7) -> Incoming:
    return Incoming(topic, 0, offset, KEY.encode(), value, 1000)


def alert(key: str, number: int = 3) -> bytes:
    return Alert(
        alert_id="0" * 32, watch="w", severity=Severity.INFO, summary="s", key={"k": key},
        values={"n": number}, appended_at_ms=900, detected_at_ms=904, auditor="b",
    ).encode()  # fmt: skip


def kept_aside(original: bytes) -> bytes:
    return Rejected.of(
        topic="things", source="http robot 7", reason="invalid_field", detail="no amount",
        original=original, at_ms=1000,
    ).encode()  # fmt: skip


def test_each_step_has_its_line() -> None:
    account = Accounted(
        accounted_id="1" * 32, account="left", reason="late", key={"k": KEY},
        appended_at_ms=900, accounted_at_ms=1000,
    )  # fmt: skip
    lines = lines_of(
        [
            record("things", b'{"k": "o-1"}'),
            record("things.rejected", kept_aside(b'{"k": "o-1"')),
            record(ALERTS, alert(KEY)),
            record(ACCOUNTS, account.encode()),
        ],
        KEY,
        STREAMS,
    )
    assert [(each.step, each.at_ms) for each in lines] == [
        ("accepted", 1000), ("refused", 1000), ("found", 904), ("unjudged", 1000),
    ]  # fmt: skip
    assert lines[0].detail == 'things/0/7: {"k": "o-1"}'
    assert "from http robot 7: invalid_field: no amount" in lines[1].detail
    assert "by auditor b, 4 ms after the newest event: w: s" in lines[2].detail
    assert lines[2].alert_id == "0" * 32


@pytest.mark.parametrize("number", [3, 2**64, -(10**40)])
def test_a_finding_shows_whole_numbers_of_any_size(number: int) -> None:
    (line,) = lines_of([record(ALERTS, alert(KEY, number))], KEY, STREAMS)
    assert str(number) in line.detail


def test_what_is_of_another_key_gives_none() -> None:
    others = [
        record(ALERTS, alert("o-10")),
        record("things.rejected", kept_aside(b'{"k": "o-10"}')),
        record("another", b'{"k": "o-1"}'),
    ]
    assert lines_of(others, KEY, STREAMS) == []


@given(
    st.sampled_from(["things", "things.rejected", ALERTS, ACCOUNTS]),
    st.binary(max_size=100) | st.sampled_from([alert(KEY)[:-3], b'{"original_base64": "?"}']),
)
def test_no_record_stops_a_trace(topic: str, value: bytes) -> None:
    lines = lines_of([record(topic, value)], KEY, STREAMS)
    assert len(lines) == (topic == "things")
    assert all("\0" not in each.detail for each in lines)
    assert all(each.detail.encode() for each in lines)
