"""The log channel: whole lines, and evidence in the file."""

import json
import resource
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.backbone.clock import ManualClock
from services.deliverer.channel import Doubt, Message, SendWindow, Taken, Unclear
from services.deliverer.channels.log import LogChannel, LogSettings, worded
from services.deliverer.outcomes import Accepted, Refused, Unknown
from tests.unit.deliverer.builders import delivery

NUL_FREE = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=80)


@given(NUL_FREE, st.booleans())
def test_any_text_is_one_line_that_reads_back(text: str, marked: bool) -> None:
    one = delivery(1, channel="log", text=text)
    line = worded(Message(one, attempt=3, marked_repeat=marked), at_ms=5)
    assert len(line.splitlines()) == 1
    assert line.endswith(b"\n")
    read = json.loads(line)
    assert read["delivery_id"] == one.delivery_id
    assert read["text"].endswith(text)
    assert (read["attempt"], read["possible_repeat"], read["written_at_ms"]) == (3, marked, 5)


@pytest.mark.promise("evidence", "log")
async def test_a_file_gets_one_line_per_send_and_gives_evidence(tmp_path: Path) -> None:
    clock = ManualClock()
    file = tmp_path / "deliveries.jsonl"
    channel = LogChannel(LogSettings(log_channel_file=file), clock)
    sent, other = delivery(1, channel="log"), delivery(2, channel="log")
    window = SendWindow(clock, clock.monotonic_seconds() + 1)
    assert isinstance(await channel.send(Message(sent, 1), window), Accepted)
    assert len(file.read_text().splitlines()) == 1
    assert isinstance(await channel.look_up(Doubt(sent, 1, 0, 0)), Taken)
    assert isinstance(await channel.look_up(Doubt(other, 1, 0, 0)), Unclear)


@pytest.mark.promise("not_taken", "log")
async def test_a_full_disk_is_no_delivery() -> None:
    clock = ManualClock()
    channel = LogChannel(LogSettings(log_channel_file=Path("/dev/full")), clock)
    window = SendWindow(clock, clock.monotonic_seconds() + 1)
    outcome = await channel.send(Message(delivery(1, channel="log"), 1), window)
    assert isinstance(outcome, Refused)
    assert outcome.destination_down


@pytest.mark.promise("in_doubt", "log")
async def test_a_disk_that_is_full_in_the_middle_of_a_line_leaves_a_doubt(tmp_path: Path) -> None:
    clock = ManualClock()
    file = tmp_path / "deliveries.jsonl"
    channel = LogChannel(LogSettings(log_channel_file=file), clock)
    window = SendWindow(clock, clock.monotonic_seconds() + 1)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, before[1]))
    try:
        outcome = await channel.send(Message(delivery(1, channel="log"), 1), window)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert isinstance(outcome, Unknown)
    assert len(file.read_bytes()) == 20
