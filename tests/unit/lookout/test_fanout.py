"""From an alert to its deliveries: fixed ids, one per recipient, within what topics carry."""

import tracemalloc

import pytest
from hypothesis import given

from services.backbone.ledger.alerts.intake import NewAlert, _columns
from services.contracts.examples import Example, examples
from services.contracts.ids import delivery_id
from services.contracts.records import Alert, Delivery, Malformed
from services.contracts.topics import Topic
from services.lookout.decisions.fanout import (
    ALERT_LIMIT_BYTES,
    DEPTH_LIMIT,
    FANOUT_LIMIT_BYTES,
    Unusable,
    fan_out,
)
from services.lookout.intake.pipeline import decode
from services.lookout.routing import Escalation, Instruction, Route, Routes, Step, Target, decide
from services.lookout.standing import Standing
from tests.unit.lookout.samples import NOON, alerts, instructions, routes, sample, told

EVERYBODY = (Target("bus", "notifications"), Target("email", "desk@example.com"))
ROUTES = Routes((), told("default", *EVERYBODY))


@given(routes(), instructions(), alerts())
def test_one_delivery_per_recipient_with_the_id_of_the_contract(
    all_routes: list[Route], default: tuple[Instruction, ...], alert: Alert
) -> None:
    given_routes = Routes(tuple(all_routes), default)
    made = fan_out(alert, given_routes, Standing(), now_ms=7)
    assert isinstance(made, NewAlert)
    expected = {
        delivery_id(alert.alert_id, each.channel, each.recipient): each
        for each in decide(given_routes, alert, NOON).targets
    }
    assert len(made.deliveries) == len(expected)
    for each in made.deliveries:
        told = Delivery.decode(each.encoded)
        assert expected[told.delivery_id] == Target(told.channel, told.recipient)
        assert (told.alert, told.created_at_ms, told.repetition) == (alert, 7, 0)


def test_the_same_alert_always_gives_the_same_bytes() -> None:
    assert fan_out(sample(), ROUTES, Standing(), 5) == fan_out(sample(), ROUTES, Standing(), 5)


@pytest.mark.parametrize("example", list(examples("alerts", "valid")), ids=str)
def test_every_valid_example_is_fanned_out(example: Example) -> None:
    made = fan_out(decode(example.content).alert, ROUTES, Standing(), 0)
    assert isinstance(made, NewAlert)
    assert len(made.deliveries) == 2


@pytest.mark.parametrize("example", list(examples("alerts", "invalid")), ids=str)
def test_every_invalid_example_is_malformed(example: Example) -> None:
    with pytest.raises(Malformed):
        decode(example.content)


def test_the_largest_alert_fits_its_topic_as_a_delivery() -> None:
    summary = "\x01" * 4096
    base = sample(summary=summary, values={"text": ""})
    room = ALERT_LIMIT_BYTES - len(base.encode())
    largest = sample(summary=summary, values={"text": "x" * room})
    made = fan_out(largest, ROUTES, Standing(), 0)
    assert isinstance(made, NewAlert)
    limit = Topic("deliveries.bus").message_limit_bytes
    assert all(len(each.encoded) + 4096 < limit for each in made.deliveries)
    larger = sample(summary=summary, values={"text": "x" * (room + 1)})
    assert isinstance(fan_out(larger, ROUTES, Standing(), 0), Unusable)


@pytest.mark.parametrize("levels", [DEPTH_LIMIT, DEPTH_LIMIT + 1, 190, 197])
def test_values_too_deep_for_a_delivery_are_unusable(levels: int) -> None:
    nested: object = 1
    for _ in range(levels - 1):
        nested = [nested]
    deep = Alert.decode(sample().model_copy(update={"values": {"a": nested}}).encode())
    made = fan_out(deep, ROUTES, Standing(), 5)
    if levels > DEPTH_LIMIT:
        detail = "an alert's values have at most 100 levels"
        assert made == Unusable(deep.alert_id, "too_deep", detail)
    else:
        assert isinstance(made, NewAlert)
        assert Delivery.decode(made.deliveries[0].encoded).alert == deep


def test_a_fan_out_that_no_transaction_carries_is_unusable() -> None:
    many = Routes((), told("default", *(Target("bus", f"t{number}") for number in range(1000))))
    made = fan_out(sample(values={"text": "x" * 100_000}), many, Standing(), 0)
    assert isinstance(made, Unusable)
    assert made.reason == "too_large"
    assert "each of 1000 recipients" in made.detail


@pytest.mark.parametrize("count", [160, 170])
def test_a_step_of_an_escalation_that_no_transaction_carries_is_unusable(count: int) -> None:
    """It would be due for ever, since a turn takes one step at least."""
    people = told("r", *(Target("bus", f"t{number}") for number in range(count)))
    steps = (Step(60.0, told("r", *EVERYBODY)), Step(120.0, (*people, *people)))
    escalations = {"desk": Escalation("desk", steps)}
    to_desk = Routes((), told("default", *EVERYBODY), "desk", escalations=escalations)
    made = fan_out(sample(values={"text": "x" * 100_000}), to_desk, Standing(), 0)
    if count == 170:
        assert isinstance(made, Unusable)
        assert made.reason == "too_large"
        assert made.detail.endswith("for each of 170 recipients of escalation desk")
    else:
        assert isinstance(made, NewAlert)
        assert len(made.steps) == 2


def test_the_largest_fan_out_is_recorded_within_a_quarter_of_a_lookout_s_memory() -> None:
    largest = sample(event_ids=[f"{number:032x}" for number in range(10_000)])
    count = FANOUT_LIMIT_BYTES // len(largest.encode())
    many = Routes((), told("default", *(Target("bus", f"t{number}") for number in range(count))))
    tracemalloc.start()
    try:
        made = fan_out(largest, many, Standing(), 0)
        assert isinstance(made, NewAlert)
        columns = _columns([made])
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(columns[4]) > FANOUT_LIMIT_BYTES * 0.9
    assert peak_bytes < 96 * 1024 * 1024
