"""The log channel as a real process."""

import json
import os
from collections import Counter
from pathlib import Path

import pytest

from services.contracts.states import State
from tests.flushing import linux_only
from tests.integration.deliverer.conftest import Start
from tests.integration.deliverer.ledgers import Ledger
from tests.integration.deliverer.waiting import until
from tests.unit.deliverer.builders import delivery

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]


def test_each_delivery_is_one_line_of_the_file(
    start: Start, ledger: Ledger, tmp_path: Path
) -> None:
    sent = [delivery(number, channel="log") for number in range(20)]
    ledger.add(*sent)
    file = tmp_path / "deliveries.jsonl"
    start("log", log_channel_file=file)
    until(lambda: set(ledger.states().values()) == {State.SENT}, "sent")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert Counter(each["delivery_id"] for each in lines) == Counter(
        each.delivery_id for each in sent
    )


@pytest.mark.promise("not_taken", "log")
def test_while_the_disk_is_full_deliveries_wait_and_then_each_is_one_line(
    start: Start, ledger: Ledger, tmp_path: Path
) -> None:
    sent = [delivery(number, channel="log") for number in range(10)]
    ledger.add(*sent)
    file, room = tmp_path / "deliveries.jsonl", tmp_path / "room"
    file.symlink_to("/dev/full")
    start("log", log_channel_file=file, attempts_limit=1000)
    until(lambda: any(ledger.attempts(each) for each in sent), "tried")
    assert State.SENT not in ledger.states().values()
    room.symlink_to(tmp_path / "lines")
    os.replace(room, file)
    until(lambda: set(ledger.states().values()) == {State.SENT}, "sent")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert Counter(each["delivery_id"] for each in lines) == Counter(
        each.delivery_id for each in sent
    )
    assert not any(each["possible_repeat"] for each in lines)
    refused = {row["outcome"] for row in ledger.rows("SELECT * FROM attempts")} - {State.SENT}
    assert refused == {State.RETRY_WAIT}


@linux_only
@pytest.mark.promise("after_doubt", "log")
def test_what_the_disk_does_not_flush_is_repeated_once_with_a_mark_and_then_held(
    start: Start, ledger: Ledger, tmp_path: Path
) -> None:
    one = delivery(1, channel="log")
    ledger.add(one)
    file = tmp_path / "deliveries.jsonl"
    start("log", module="tests.integration.deliverer.unflushing", log_channel_file=file)
    until(lambda: ledger.row(one)["state"] == State.HELD, "held")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [each["delivery_id"] for each in lines] == [one.delivery_id] * 2
    assert [each["possible_repeat"] for each in lines] == [False, True]
    assert {row["outcome"] for row in ledger.attempts(one)} == {State.IN_DOUBT}
    assert all("not flushed" in row["reason"] for row in ledger.attempts(one))
