"""The spool: one file per delivery, and nothing of it seen before the go-ahead."""

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.backbone.clock import SystemClock
from services.deliverer.channel import (
    Absent,
    Doubt,
    Message,
    SendWindow,
    Taken,
    TooLate,
    Unclear,
)
from services.deliverer.channels.nagios import NagiosChannel, NagiosSettings
from services.deliverer.channels.nagios.spool import Spool, Standing, file_name
from services.deliverer.outcomes import Accepted, Refused, Unknown
from tests.integration.deliverer.waiting import until
from tests.unit.deliverer.builders import delivery

ONE = delivery(1, channel="nagios", recipient="h/s")
ID = ONE.delivery_id
IDS = st.text("0123456789abcdef", min_size=32, max_size=32)


def channel_on(folder: Path, **more: object) -> NagiosChannel:
    settings = NagiosSettings.model_validate({"nagios_spool": folder, **more})
    return NagiosChannel(settings, SystemClock())


def window(seconds: float = 60) -> SendWindow:
    clock = SystemClock()
    return SendWindow(clock, clock.monotonic_seconds() + seconds)


@pytest.mark.promise("our_id", "nagios")
@given(IDS)
def test_names_are_as_nagios_wants_them(delivery_id: str) -> None:
    name = file_name(delivery_id)
    assert len(name) == 7
    assert name[0] == "c"
    assert name.isascii()
    assert name.isalnum()
    assert name == file_name(delivery_id)


async def test_a_delivery_written_twice_is_one_result_with_time_to_spare(tmp_path: Path) -> None:
    channel = channel_on(tmp_path)
    for attempt in (1, 2):
        outcome = await channel.send(Message(ONE, attempt, marked_repeat=attempt == 2), window())
        assert isinstance(outcome, Accepted)
    name = file_name(ID)
    assert sorted(os.listdir(tmp_path)) == [name, name + ".ok"]
    ahead = (tmp_path / name).stat().st_mtime - (tmp_path / f"{name}.ok").stat().st_mtime
    assert ahead > 6 * 86_400
    assert isinstance(await channel.look_up(Doubt(ONE, 1, 0, 0)), Taken)


async def test_too_late_leaves_nothing_that_nagios_reads(tmp_path: Path) -> None:
    channel = channel_on(tmp_path)
    with pytest.raises(TooLate):
        await channel.send(Message(ONE, 1), window(-1))
    assert os.listdir(tmp_path) == [file_name(ID)]
    assert isinstance(await channel.look_up(Doubt(ONE, 1, 0, lease_over_at_ms=0)), Absent)
    running = Doubt(ONE, 1, 0, lease_over_at_ms=2**53)
    assert isinstance(await channel.look_up(running), Unclear)
    assert isinstance(await channel.send(Message(ONE, 2), window()), Accepted)


async def test_another_result_of_the_same_name_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / file_name(ID)).write_text("host_name=other\n")
    outcome = await channel_on(tmp_path).send(Message(ONE, 1), window())
    assert isinstance(outcome, Refused)
    assert not outcome.destination_down
    assert (tmp_path / file_name(ID)).read_text() == "host_name=other\n"


@pytest.mark.promise("not_taken", "nagios")
async def test_nothing_is_put_beside_what_nobody_reads(tmp_path: Path) -> None:
    waiting, sign = tmp_path / "cAAAAAA", tmp_path / "cAAAAAA.ok"
    waiting.touch()
    sign.touch()
    os.utime(sign, (0, 0))
    outcome = await channel_on(tmp_path).send(Message(ONE, 1), window())
    assert isinstance(outcome, Refused)
    assert outcome.destination_down
    assert sorted(os.listdir(tmp_path)) == [waiting.name, sign.name]


async def test_a_go_ahead_without_its_result_keeps_nobody_waiting(tmp_path: Path) -> None:
    sign = tmp_path / "cAAAAAA.ok"
    sign.touch()
    os.utime(sign, (0, 0))
    assert isinstance(await channel_on(tmp_path).send(Message(ONE, 1), window()), Accepted)


class Meanwhile(SendWindow):
    """A window at whose opening something else happens."""

    def __init__(self, happens: Callable[[], object]) -> None:
        clock = SystemClock()
        super().__init__(clock, clock.monotonic_seconds() + 60)
        self._happens = happens

    def open(self) -> None:
        super().open()
        self._happens()


@pytest.mark.promise("not_taken", "nagios")
async def test_a_spool_that_goes_before_the_go_ahead_has_taken_nothing(tmp_path: Path) -> None:
    spool, gone = tmp_path / "spool", tmp_path / "gone"
    spool.mkdir()
    outcome = await channel_on(spool).send(Message(ONE, 1), Meanwhile(lambda: spool.rename(gone)))
    assert isinstance(outcome, Refused)
    assert outcome.destination_down
    assert os.listdir(gone) == [file_name(ID)]


@pytest.mark.promise("in_doubt", "nagios")
async def test_a_spool_that_goes_at_the_go_ahead_leaves_a_doubt(tmp_path: Path) -> None:
    spool, gone = tmp_path / "spool", tmp_path / "gone"
    sign = spool / f"{file_name(ID)}.ok"
    spool.mkdir()
    one_by_one = ThreadPoolExecutor(1)  # what comes next to the disk waits for its turn
    asyncio.get_running_loop().set_default_executor(one_by_one)

    def go_when_let_go() -> None:
        until(sign.exists, "the go-ahead")
        spool.rename(gone)

    window = Meanwhile(lambda: one_by_one.submit(go_when_let_go))
    outcome = await channel_on(spool).send(Message(ONE, 1), window)
    assert isinstance(outcome, Unknown)
    assert sorted(os.listdir(gone)) == [file_name(ID), sign.name]


def test_a_file_left_by_a_try_that_died_is_overwritten(tmp_path: Path) -> None:
    spool = Spool(tmp_path, keep_seconds=0)
    first = f"# Aldebaran delivery {ID}\noutput=old\n".encode()
    assert spool.prepare(ID, 1, first, 5.0) is Standing.PREPARED
    second = first.replace(b"old", b"new")
    assert spool.prepare(ID, 2, second, 5.0) is Standing.PREPARED
    assert (tmp_path / file_name(ID)).read_bytes() == second
    spool.let_go(ID)
    assert spool.prepare(ID, 3, first, 5.0) is Standing.WAITING
    assert (tmp_path / file_name(ID)).read_bytes() == second


def test_drafts_of_tries_long_dead_are_removed(tmp_path: Path) -> None:
    draft, other = tmp_path / f".aldebaran-{ID}-1", tmp_path / "cAAAAAA"
    for each in (draft, other):
        each.touch()
    written = draft.stat().st_ctime
    spool = Spool(tmp_path, keep_seconds=0)
    spool.forget_drafts(before_seconds=written - 1)
    assert draft.exists()
    spool.forget_drafts(before_seconds=written + 1)
    assert os.listdir(tmp_path) == [other.name]
