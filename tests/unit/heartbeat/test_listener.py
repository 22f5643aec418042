"""When what was read is compared: only what is known whole is judged."""

from unittest.mock import create_autospec

import pytest

from services.backbone.clock import ManualClock
from services.backbone.errors import Ended
from services.backbone.kafka.consumer import Consumer, Incoming
from services.backbone.service import Life
from services.contracts.ids import alert_id
from services.contracts.records import Alert, Severity
from services.contracts.topics import ALERTS
from services.heartbeat.agreement import Agreement, Shown
from services.heartbeat.hearing import Hearing
from services.heartbeat.listener import Listener, Listening

WATCH = "watch"
BATCH_SECONDS = 120.0
STEPS = {(WATCH, "a"): 1e6, (WATCH, "b"): 1e6}


class Broker:
    """A topic of alerts that is read to its end, or not."""

    def __init__(self, batch_seconds: float = BATCH_SECONDS) -> None:
        self.clock = ManualClock()
        self.alerts = create_autospec(Consumer, instance=True)
        self.alerts.times_assigned.return_value = 1
        self.alerts.ends.return_value = {(ALERTS, 0): 1}
        self.alerts.has_passed.return_value = True
        self.alerts.given.return_value = 0
        self.alerts.positions.return_value = {}
        self.shown = Shown()
        agreement = Agreement(60.0, 10.0, frozenset({"a", "b"}))
        life = Life(clock=self.clock)
        hearing = Hearing(self.alerts, self.clock)
        self.listener = Listener(
            agreement, hearing, lambda: STEPS, dict, life, self.shown, batch_seconds
        )
        self.step()
        self.clock.move(batch_seconds)

    def step(self, *raised: tuple[str, str]) -> None:
        now = self.clock.now_ms()
        self.alerts.batch.return_value = [
            Incoming(ALERTS, 0, 0, None, encoded(key, auditor, now), now) for key, auditor in raised
        ]
        self.listener.step()

    def missing(self) -> list[tuple[str, str]]:
        return [(each.alert_id, each.missing) for each in self.shown.disagreements]


def encoded(key: str, auditor: str, now_ms: int) -> bytes:
    alert = Alert(
        alert_id=alert_id(WATCH, [key]),
        watch=WATCH,
        severity=Severity.INFO,
        summary="x",
        key={"k": key},
        appended_at_ms=now_ms,
        detected_at_ms=now_ms,
        auditor=auditor,
    )
    return alert.encode()


def test_what_one_raises_is_shown_also_while_alerts_never_stop() -> None:
    broker = Broker()
    broker.step(("one", "a"))
    for number in range(70):
        broker.clock.move(1.0)
        broker.step((f"{number}", "a"), (f"{number}", "b"))
    assert broker.missing() == [(alert_id(WATCH, ["one"]), "b")]


def test_nothing_is_judged_before_all_that_was_raised_is_read() -> None:
    broker = Broker()
    broker.step(("one", "a"))
    broker.alerts.has_passed.return_value = False
    broker.clock.move(100.0)
    broker.step()
    assert broker.missing() == []
    broker.step(("one", "b"))
    broker.alerts.has_passed.return_value = True
    broker.step()
    assert broker.missing() == []


def test_after_a_gap_nothing_older_is_judged() -> None:
    """A broker that dies may take the group with it: the reader then goes on at the end."""
    broker = Broker()
    broker.step(("one", "a"))
    broker.alerts.times_assigned.return_value = 2
    broker.clock.move(100.0)
    broker.step(("two", "a"))
    broker.clock.move(BATCH_SECONDS)
    broker.step()
    assert broker.missing() == []
    broker.step(("three", "a"))
    broker.clock.move(61.0)
    broker.step()
    assert broker.missing() == [(alert_id(WATCH, ["three"]), "b")]


def test_what_an_auditor_has_raised_in_its_batch_and_is_silent_about_is_no_disagreement() -> None:
    """Before this program listened both had raised it; the first is in its next batch by now."""
    broker = Broker()
    broker.alerts.times_assigned.return_value = 2
    broker.step(("heard", "a"), ("heard", "b"))
    broker.clock.move(BATCH_SECONDS / 2)
    broker.step(("before", "a"))
    for _ in range(3):
        broker.clock.move(BATCH_SECONDS)
        broker.step(("heard", "a"), ("before", "a"))
    assert broker.missing() == []


def test_however_short_batches_are_what_may_have_come_late_is_not_compared() -> None:
    """Both are in step: one raised it before anybody listened, the other seven seconds later."""
    broker = Broker(batch_seconds=5.0)
    broker.clock.move(2.0)
    broker.step(("before", "a"))
    broker.clock.move(100.0)
    broker.step()
    assert broker.missing() == []


def test_a_client_that_has_ended_ends_the_program() -> None:
    """Whoever went on would compare nothing any more, and say that all agree."""
    broker = Broker()
    broker.alerts.batch.side_effect = Ended("Kafka: fenced")
    listening = Listening(broker.listener)
    assert broker.listener.life.stop.wait(30)
    with pytest.raises(Ended, match="fenced"):
        listening.end()
    broker.alerts.close.assert_called_once_with()
