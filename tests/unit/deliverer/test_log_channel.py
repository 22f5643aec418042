"""The log channel: whole lines, evidence in the file, and disks that are full or do not flush."""

import asyncio
import json
import resource
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.backbone.clock import ManualClock
from services.contracts.records import Delivery
from services.deliverer.channel import Doubt, Finding, Message, SendWindow, Taken, Unclear
from services.deliverer.channels.log import LogChannel, LogSettings, worded
from services.deliverer.outcomes import Accepted, Outcome, Refused, Unknown
from tests.flushing import fail_flushes, linux_only
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


class Writer:
    """A channel to one file, and what is asked of it."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._clock = ManualClock()
        self._channel = LogChannel(LogSettings(log_channel_file=file), self._clock)

    async def send(self, one: Delivery) -> Outcome:
        window = SendWindow(self._clock, self._clock.monotonic_seconds() + 1)
        return await self._channel.send(Message(one, 1), window)

    async def look_up(self, one: Delivery) -> Finding:
        return await self._channel.look_up(Doubt(one, 1, 0, 0))

    def lines(self) -> list[bytes]:
        return self.file.read_bytes().splitlines(keepends=True)


@pytest.fixture
def writer(tmp_path: Path) -> Writer:
    return Writer(tmp_path / "deliveries.jsonl")


@contextmanager
def disk_full_after(size: int) -> Iterator[None]:
    """Let no file of this process become larger."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextmanager
def disk_that_does_not_flush() -> Iterator[None]:
    """Have the channel write on a thread whose every fsync fails."""
    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(1, initializer=fail_flushes) as threads:
        loop.set_default_executor(threads)
        yield
    loop.set_default_executor(ThreadPoolExecutor(1))


@pytest.mark.promise("evidence", "log")
async def test_a_file_gets_one_line_per_send_and_gives_evidence(writer: Writer) -> None:
    sent, other = delivery(1, channel="log"), delivery(2, channel="log")
    assert await writer.send(sent) == Accepted()
    before = writer.lines()
    assert isinstance(await writer.look_up(sent), Taken)
    assert isinstance(await writer.look_up(other), Unclear)
    assert writer.lines() == before
    assert len(before) == 1


@pytest.mark.promise("evidence", "log")
async def test_a_line_that_only_names_a_delivery_is_no_evidence_of_it(writer: Writer) -> None:
    lost = delivery(1, channel="log")
    about_it = delivery(2, channel="log", text=f"held {lost.delivery_id}: nobody knows")
    assert await writer.send(about_it) == Accepted()
    assert isinstance(await writer.look_up(lost), Unclear)


@pytest.mark.promise("not_taken", "log")
async def test_a_full_disk_is_no_delivery() -> None:
    outcome = await Writer(Path("/dev/full")).send(delivery(1, channel="log"))
    assert isinstance(outcome, Refused)
    assert outcome.destination_down


@pytest.mark.promise("not_taken", "log")
async def test_a_disk_that_takes_no_more_is_no_delivery_and_the_file_stays(writer: Writer) -> None:
    first, second = delivery(1, channel="log"), delivery(2, channel="log")
    assert await writer.send(first) == Accepted()
    before = writer.lines()
    with disk_full_after(writer.file.stat().st_size):
        outcome = await writer.send(second)
    assert isinstance(outcome, Refused)
    assert outcome.destination_down
    assert writer.lines() == before


@pytest.mark.promise("in_doubt", "log")
@pytest.mark.promise("evidence", "log")
async def test_a_disk_full_in_the_middle_of_a_line_leaves_a_doubt_and_spoils_no_other_line(
    writer: Writer,
) -> None:
    cut, whole = delivery(1, channel="log"), delivery(2, channel="log")
    size = len(worded(Message(cut, 1), 0)) - 20
    with disk_full_after(size):
        assert isinstance(await writer.send(cut), Unknown)
    part = writer.file.read_bytes()
    assert len(part) == size
    assert cut.delivery_id.encode() in part
    assert isinstance(await writer.look_up(cut), Unclear)
    assert await writer.send(whole) == Accepted()
    begun, last = writer.lines()
    assert begun == part + b"\n"
    assert json.loads(last)["delivery_id"] == whole.delivery_id
    assert isinstance(await writer.look_up(cut), Unclear)
    assert isinstance(await writer.look_up(whole), Taken)


@linux_only
@pytest.mark.promise("in_doubt", "log")
@pytest.mark.promise("evidence", "log")
async def test_what_cannot_be_flushed_is_in_doubt_until_it_can_be(writer: Writer) -> None:
    one = delivery(1, channel="log")
    with disk_that_does_not_flush():
        outcome = await writer.send(one)
        finding = await writer.look_up(one)
    assert isinstance(outcome, Unknown)
    assert "not flushed" in outcome.reason
    assert isinstance(finding, Unclear)
    assert "flushed" in finding.detail
    before = writer.lines()
    assert isinstance(await writer.look_up(one), Taken)
    assert writer.lines() == before
    assert len(before) == 1
