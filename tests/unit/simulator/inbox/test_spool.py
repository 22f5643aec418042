"""The inbox as Nagios: each result that was let go is taken once, whoever wrote it."""

import threading
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.backbone.clock import SystemClock
from services.contracts.ids import digest
from services.deliverer.channels.nagios.spool import Spool, content
from services.deliverer.channels.nagios.wording import Place, Result
from services.simulator.inbox.dials import untouched
from services.simulator.inbox.faults import Verdict
from services.simulator.inbox.received import Arrival, Received
from services.simulator.inbox.spool import WAY, read_until, take_all
from services.simulator.inbox.switchboard import Switchboard
from tests.unit.simulator.inbox.disks import full_after


def board(folder: Path) -> Switchboard:
    received = Received(folder / "received.jsonl", untouched())
    received.open()
    return Switchboard(untouched(), received, SystemClock(), lambda _: None)


@given(st.lists(st.booleans(), max_size=8))
def test_what_was_let_go_is_taken_once_and_removed(
    tmp_path_factory: pytest.TempPathFactory, let_go: list[bool]
) -> None:
    folder = tmp_path_factory.mktemp("spool")
    inbox, spool_folder = board(folder), folder / "checkresults"
    spool_folder.mkdir()
    spool = Spool(spool_folder, keep_seconds=60)
    ids = [digest(str(number)) for number in range(len(let_go))]
    for delivery, gone in zip(ids, let_go, strict=True):
        told = Result(Place("host", "service"), 2, f"CRITICAL: x [delivery {delivery}]", 1000)
        spool.prepare(delivery, 1, content(told, delivery), 1000.0)
        if gone:
            spool.let_go(delivery)
    expected = {delivery: 1 for delivery, gone in zip(ids, let_go, strict=True) if gone}
    assert take_all(spool_folder, inbox) == len(expected)
    assert take_all(spool_folder, inbox) == 0
    counts = inbox.received.counts()
    assert (counts[WAY].ids if expected else {}) == expected
    assert len(list(spool_folder.iterdir())) == len(ids) - len(expected)
    inbox.received.close()


class Rounds(SystemClock):
    """Lets the reader read thrice, without a pause; the first two times the disk is full."""

    def __init__(self, full_after_bytes: int) -> None:
        self.rounds = 0
        self.disk = ExitStack()
        self._full_after_bytes = full_after_bytes

    def wait(self, stop: threading.Event, seconds: float) -> bool:
        self.rounds += 1
        if self.rounds == 1:
            self.disk.enter_context(full_after(self._full_after_bytes))
        if self.rounds > 2:
            self.disk.close()
        return self.rounds > 3


def test_a_full_disk_leaves_a_result_where_it_is_until_there_is_room(tmp_path: Path) -> None:
    inbox, folder = board(tmp_path), tmp_path / "checkresults"
    folder.mkdir()
    other = Arrival(
        way="hook", delivery_id="b", verdict=Verdict.ACCEPTED, at_ms=1, body="x" * 100_000
    )
    inbox.received.add(other)  # a journal longer than what else this process writes
    rounds = inbox.clock = Rounds((tmp_path / "received.jsonl").stat().st_size)
    spool, delivery = Spool(folder, keep_seconds=60), digest("a")
    told = Result(Place("host", "service"), 2, f"CRITICAL: x [delivery {delivery}]", 1000)
    spool.prepare(delivery, 1, content(told, delivery), 1000.0)
    spool.let_go(delivery)
    with rounds.disk:
        read_until(threading.Event(), folder, inbox)
    assert inbox.received.counts()[WAY].ids == {delivery: 1}
    assert list(folder.iterdir()) == []
    inbox.received.close()
