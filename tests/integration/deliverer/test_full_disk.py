"""A deliverer whose own log has no room goes on: what it says is lost, what it does is not."""

from collections import Counter
from pathlib import Path

import pytest

from services.contracts.states import State
from tests.integration.deliverer.conftest import Start
from tests.integration.deliverer.ledgers import Ledger
from tests.integration.deliverer.receivers import WebhookReceiver
from tests.integration.deliverer.waiting import until
from tests.unit.deliverer.builders import delivery

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_what_was_taken_is_sent_though_no_line_can_be_written(
    start: Start, ledger: Ledger, receiver: WebhookReceiver, tmp_path: Path
) -> None:
    sent = [delivery(number, recipient=receiver.url) for number in range(20)]
    ledger.add(*sent)
    (tmp_path / "deliverer-0.log").symlink_to("/dev/full")
    started = start("webhook")
    until(lambda: set(ledger.states().values()) == {State.SENT}, "sent")
    assert receiver.came() == Counter(each.delivery_id for each in sent)
    assert started.runs
