"""A keeper does not wait for the brokers; what they take is marked when they have it."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import cast

import pytest

from services.backbone.clock import ManualClock
from services.backbone.errors import Refused, Transient, Trouble
from services.backbone.kafka.producer import Outgoing
from services.backbone.ledger.alerts.intake import NewDelivery
from services.backbone.ledger.alerts.outbox import Listed, Outbox, OutboxEntry
from services.backbone.ledger.alerts.suppressions import Moved
from services.contracts.ids import delivery_id
from services.contracts.records import Delivery
from services.contracts.states import State
from services.lookout.duties.later import Announcing
from services.lookout.duties.telling import Teller
from services.lookout.outbox import publishing
from services.lookout.outbox.publishing import Publisher
from tests.unit.lookout.samples import sample

Answer = Future[list[Trouble | None]]


class Open(Answer):
    """An answer for which nobody may wait."""

    def result(self, timeout: float | None = None) -> list[Trouble | None]:
        assert self.done(), "the brokers are away, and somebody waits for them"
        return super().result(timeout)


@dataclass
class Silent:
    """Brokers that do not answer until a test does, and the outbox."""

    sent: list[Outgoing] = field(default_factory=list)
    answers: list[Open] = field(default_factory=list)
    marked: list[str] = field(default_factory=list)
    kept: list[OutboxEntry] = field(default_factory=list)

    def send(self, records: Sequence[Outgoing]) -> Answer:
        self.sent += records
        self.answers.append(Open())
        return self.answers[-1]

    def write(self, records: Sequence[Outgoing]) -> None:
        raise AssertionError(f"{len(records)} records are waited for")

    def mark_published(self, delivery_ids: Sequence[str]) -> None:
        self.marked += delivery_ids

    def read(self, listed: Sequence[Listed]) -> Iterator[list[OutboxEntry]]:
        ids = [each.delivery_id for each in listed]
        yield [each for each in self.kept if each.delivery_id in ids]


def delivery(recipient: str) -> Delivery:
    alert = sample()
    named = delivery_id(alert.alert_id, "email", recipient)
    return Delivery(
        delivery_id=named,
        channel="email",
        recipient=recipient,
        subject="two",
        text="words",
        created_at_ms=1,
        alert=alert,
    )


def test_what_is_released_is_sent_and_not_waited_for() -> None:
    one = delivery("a")
    silent = Silent(kept=[NewDelivery(one, one.encode()).entry()])
    teller = Teller(Publisher(silent, silent), silent, cast(Outbox, silent), ManualClock())
    told = (one.delivery_id, one.alert.alert_id, "email", "a", State.SUPPRESSED, State.PENDING)
    assert teller.tell([Moved(*told, 0, "released", len(one.encode()))]) == 1
    assert [each.topic for each in silent.sent] == ["delivery-events", "deliveries.email"]
    assert silent.marked == []
    silent.answers[-1].set_result([None])
    assert silent.marked == [one.delivery_id]


def test_messages_after_intake_are_sent_and_not_waited_for() -> None:
    silent = Silent()
    one = delivery("a")
    announcing = Announcing(Publisher(silent, silent), silent, lambda: 1)
    announcing.announce([NewDelivery(one, one.encode())])
    silent.answers[-1].set_result([None])
    assert silent.marked == [one.delivery_id]


def test_what_the_brokers_do_not_take_stays_in_the_outbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publishing, "PART_LIMIT_DELIVERIES", 2)
    silent = Silent()
    entries = [OutboxEntry(name, "email", b"{}") for name in "abc"]
    Publisher(silent, silent).hand_over(entries)
    silent.answers[1].set_result([None])
    silent.answers[0].set_result([Transient("away"), Refused("too large")])
    assert silent.marked == ["c"]
