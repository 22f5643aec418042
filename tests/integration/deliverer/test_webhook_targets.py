"""Addresses that cannot be used, and those that must not be told, as a real deliverer has them."""

import json

import pytest

from services.contracts.states import State
from tests.integration.deliverer.conftest import Start
from tests.integration.deliverer.ledgers import Ledger
from tests.integration.deliverer.receivers import WebhookReceiver
from tests.integration.deliverer.refusing import told_at_the_start
from tests.integration.deliverer.waiting import until
from tests.unit.deliverer.builders import delivery

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]


@pytest.mark.parametrize("login", ["bot:hunter€2", "bo%3At:hunter2", "bot:hunter2/x"])
def test_a_target_that_cannot_be_used_keeps_it_from_starting(start: Start, login: str) -> None:
    targets = json.dumps({"desk": {"url": f"https://{login}@hooks.example.com/x"}})
    told = told_at_the_start(start, "webhook", webhook_targets=targets)
    assert "ALDEBARAN_WEBHOOK_TARGETS.DESK.URL" in told
    assert "hunter" not in told


def test_a_route_with_such_an_address_fails_and_stops_no_other(
    start: Start, ledger: Ledger, receiver: WebhookReceiver
) -> None:
    unusable = [
        delivery(n, recipient=f"http://{login}@127.0.0.1/x")
        for n, login in enumerate(["bot:p€ss", "bo%3At:pass"])
    ]
    usable = delivery(2, recipient=receiver.url)
    ledger.add(*unusable, usable)
    deliverer = start("webhook")
    until(lambda: ledger.row(usable)["state"] == State.SENT, "the usable one is sent")
    until(lambda: {ledger.row(each)["state"] for each in unusable} == {State.FAILED}, "failed")
    assert deliverer.end() == 0


def test_a_target_that_cannot_be_reached_is_told_by_its_name(start: Start, ledger: Ledger) -> None:
    one = delivery(1, recipient="desk")
    ledger.add(one)
    targets = json.dumps({"desk": {"url": "https://eos3cret.invalid/x"}})
    deliverer = start("webhook", webhook_targets=targets, log_level="debug")
    until(lambda: "to host " in str(ledger.attempts(one)), "a try that has failed")
    assert deliverer.end() == 0
    assert "eos3cret" not in deliverer.log_file.read_text() + str(ledger.rows())
    assert "eos3cret" not in str(ledger.attempts(one))
    assert "desk" in str([row["reason"] for row in ledger.attempts(one)])
