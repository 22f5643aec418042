"""The inbox as Nagios: each result that was let go is taken once, whoever wrote it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.backbone.clock import SystemClock
from services.contracts.ids import digest
from services.deliverer.channels.nagios.spool import Spool, content
from services.deliverer.channels.nagios.wording import Place, Result
from services.simulator.inbox.dials import untouched
from services.simulator.inbox.received import Received
from services.simulator.inbox.spool import WAY, take_all
from services.simulator.inbox.switchboard import Switchboard


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
