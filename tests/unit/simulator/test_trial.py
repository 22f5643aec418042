"""The trial: what it sends must alert, and what it saw decides what it says."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.contracts.records import Alert, DeliveryEvent, Severity
from services.contracts.states import State
from services.contracts.topics import ALERTS, DELIVERY_EVENTS
from services.simulator import trial

ORDER = "trial-1"


def alert(order: str, alert_id: str) -> bytes:
    """Return an alert about one order."""
    return Alert(
        alert_id=alert_id,
        watch="over-purchase",
        severity=Severity.CRITICAL,
        summary="too many",
        key={"order_id": order},
        appended_at_ms=1_000,
        detected_at_ms=1_003,
        auditor="a",
    ).encode()


def move(alert_id: str, after: State, channel: str = "email") -> bytes:
    """Return one move of a delivery of an alert."""
    return DeliveryEvent(
        delivery_id="d" * 32,
        alert_id=alert_id,
        channel=channel,
        recipient="desk@example.org",
        after=after,
        at_ms=1_005,
    ).encode()


def test_what_is_sent_buys_more_than_was_requested() -> None:
    request, purchase = (orjson.loads(each.value) for each in trial.order_messages(ORDER))
    assert request["order_id"] == purchase["order_id"] == ORDER
    assert purchase["shares"] > request["shares"]
    assert request["event_id"] != purchase["event_id"]


def test_without_an_alert_it_names_the_auditors() -> None:
    text, code = trial.verdict(trial.Trial(ORDER))
    assert code == 1
    assert "auditors" in text


def test_with_an_alert_that_nobody_got_it_names_the_deliverers() -> None:
    seen = trial.Trial(ORDER)
    seen.take([(ALERTS, alert(ORDER, "a" * 32)), (DELIVERY_EVENTS, move("a" * 32, State.CLAIMED))])
    text, code = trial.verdict(seen)
    assert code == 1
    assert "deliverers" in text


@given(st.permutations([0, 1, 2, 3]))
def test_records_may_come_in_any_order_and_others_do_not_count(places: list[int]) -> None:
    records = [
        (ALERTS, alert(ORDER, "a" * 32)),
        (ALERTS, alert("another", "b" * 32)),
        (DELIVERY_EVENTS, move("b" * 32, State.SENT, "sms")),
        (DELIVERY_EVENTS, move("a" * 32, State.SENT)),
    ]
    seen = trial.Trial(ORDER)
    seen.take(records[place] for place in places)
    assert trial.verdict(seen) == (
        f"order {ORDER}: alert {'a' * 32}, found 3 ms after the purchase; told by email",
        0,
    )


@pytest.mark.parametrize("topic", [ALERTS, DELIVERY_EVENTS])
def test_a_record_that_cannot_be_read_is_passed_over(topic: str) -> None:
    seen = trial.Trial(ORDER)
    seen.take([(topic, b"not JSON")])
    assert seen.alert is None
