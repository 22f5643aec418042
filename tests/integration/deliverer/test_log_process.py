"""The log channel as a real process."""

import json
from collections import Counter
from pathlib import Path

import pytest

from services.contracts.states import State
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
