"""Every alert is recorded once and published at least once, whatever dies and comes again."""

import gc
import itertools
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.backbone.errors import Transient
from services.backbone.ledger.alerts.intake import Accepted, Intake, NewAlert
from services.backbone.ledger.alerts.outbox import Outbox
from services.backbone.ledger.database import Pool
from services.contracts import topics
from services.contracts.ids import delivery_id
from services.contracts.records import Alert, Delivery, DeliveryEvent, Malformed, Rejected, Severity
from services.contracts.states import State
from services.lookout.intake.pipeline import TRANSACTION_LIMIT_BYTES, Arrival, decode
from services.lookout.matching import Match
from services.lookout.routing import Route, Routes, Target, decide
from tests.integration.lookout.crashing import Crash, Point, Topics, arrivals, started
from tests.unit.lookout.samples import NOON, sample, told

pytestmark = pytest.mark.postgres

ROUTES = Routes(
    (
        Route(
            "urgent",
            Match(severity=frozenset({Severity.CRITICAL})),
            told("urgent", Target("email", "desk@example.com"), Target("bus", "urgent")),
            goes_on=True,
        ),
        Route(
            "heat",
            Match(watch=("over-heat",)),
            told("heat", Target("bus", "urgent"), Target("bus", "heat")),
        ),
    ),
    told("default", Target("bus", "notifications")),
)
NAMESPACES = itertools.count()

Batch = tuple[list[int], Point | None]
BATCHES = st.lists(
    st.tuples(
        st.lists(st.integers(0, 7), min_size=1, max_size=6), st.none() | st.sampled_from(Point)
    ),
    min_size=1,
    max_size=8,
)


def finding(namespace: int, number: int) -> Alert:
    """Return an alert that no other example has; its number decides its severity and watch."""
    severity = (Severity.CRITICAL, Severity.INFO)[number % 2]
    watch = ("over-limit", "over-heat")[number // 2 % 2]
    return sample(namespace * 100 + number, severity=severity, watch=watch)


def rows(pool: Pool, query: str, *values: Any) -> list[Any]:
    with pool.connection() as connection:
        return connection.execute(query, values).fetchall()


def expected_ids(alert: Alert) -> list[str]:
    targets = decide(ROUTES, alert, NOON).targets
    return sorted(delivery_id(alert.alert_id, each.channel, each.recipient) for each in targets)


def check(pool: Pool, written: Topics, alerts: list[Alert]) -> None:
    """Hold the ledger and the topics against what the alerts ask for."""
    ids = [alert.alert_id for alert in alerts]
    found = rows(pool, "SELECT alert_id FROM alerts WHERE alert_id = ANY(%s)", ids)
    assert sorted(row[0] for row in found) == sorted(ids)
    recorded = rows(
        pool,
        "SELECT delivery_id, record, published_at FROM deliveries WHERE alert_id = ANY(%s)",
        ids,
    )
    wanted = sorted(each for alert in alerts for each in expected_ids(alert))
    assert sorted(row[0] for row in recorded) == wanted
    assert all(row[2] is not None for row in recorded)
    published = written.on("deliveries.")
    assert {each.key for each in published} == set(wanted)
    records = {row[0]: row[1] for row in recorded}
    for each in published:
        assert orjson.loads(each.value) == records[each.key], "published again, it says the same"
        assert each.topic == topics.deliveries(Delivery.decode(each.value).channel)


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(BATCHES)
def test_nothing_is_lost_or_doubled_wherever_the_process_dies(
    pool: Pool, batches: list[Batch]
) -> None:
    namespace, written = next(NAMESPACES), Topics()
    lookout = started(pool, ROUTES, written)
    for numbers, crash in batches:
        batch = arrivals([finding(namespace, number) for number in numbers])
        try:
            started(pool, ROUTES, written, crash)(batch) if crash else lookout(batch)
        except Crash:
            lookout = started(pool, ROUTES, written)
            lookout(batch)
    seen = {number for numbers, _ in batches for number in numbers}
    check(pool, written, [finding(namespace, number) for number in sorted(seen)])


def settle(pool: Pool, written: Topics, work: list[list[Arrival]]) -> None:
    for batch in work:
        started(pool, ROUTES, written)(batch)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(BATCHES)
def test_two_lookouts_at_once_record_once(pool: Pool, batches: list[Batch]) -> None:
    namespace, written = next(NAMESPACES), Topics()
    work = [arrivals([finding(namespace, each) for each in numbers]) for numbers, _ in batches]
    with ThreadPoolExecutor(2) as two:
        both = [two.submit(settle, pool, written, work) for _ in range(2)]
    assert [each.result() for each in both] == [None, None]
    seen = {number for numbers, _ in batches for number in numbers}
    check(pool, written, [finding(namespace, number) for number in sorted(seen)])


def test_a_new_alert_is_told_as_pending_once(pool: Pool) -> None:
    written = Topics()
    lookout = started(pool, ROUTES, written)
    alert = sample(watch="over-heat")
    lookout(arrivals([alert, alert]))
    started(pool, ROUTES, written)(arrivals([alert]))
    events = [DeliveryEvent.decode(each.value) for each in written.on("delivery-events")]
    assert sorted(event.delivery_id for event in events) == expected_ids(alert)
    assert {(event.before, event.after) for event in events} == {(None, State.PENDING)}


def test_kafka_away_leaves_all_in_the_outbox_until_the_batch_comes_again(
    pool: Pool, outbox: Outbox
) -> None:
    written = Topics(away=True)
    lookout = started(pool, ROUTES, written)
    alert = sample(3)
    with pytest.raises(Transient):
        lookout(arrivals([alert]))
    assert outbox.waiting() == len(expected_ids(alert))
    written.away = False
    lookout(arrivals([alert]))
    assert outbox.waiting() == 0
    check(pool, written, [alert])


def test_a_settled_alert_is_dropped_without_the_ledger(pool: Pool) -> None:
    written = Topics()
    lookout = started(pool, ROUTES, written)
    lookout(arrivals([sample(4)]))
    count = len(written.written)
    gone = started(pool, ROUTES, written, Point.BEFORE_RECORDING)
    gone.settled.add([sample(4).alert_id])
    gone(arrivals([sample(4)]))
    assert len(written.written) == count


@dataclass
class Scales:
    """The real intake, which weighs all deliveries of one watch that are in memory."""

    intake: Intake
    watch: str
    most_bytes: int = 0

    def accept(self, batch: Sequence[NewAlert]) -> Accepted:
        alive = [each for each in gc.get_objects() if isinstance(each, NewAlert)]
        told = [new for each in alive if each.alert.watch == self.watch for new in each.deliveries]
        self.most_bytes = max(self.most_bytes, sum(len(new.encoded) for new in told))
        return self.intake.accept(batch)

    def secure(self) -> None:
        self.intake.secure()


def test_a_large_batch_for_many_is_written_portion_by_portion(pool: Pool, intake: Intake) -> None:
    everyone = [Target("bus", f"topic-{number}") for number in range(20)]
    heavy = [
        sample(number, watch="weighed", values={"text": "x" * 33_000}) for number in range(1, 51)
    ]
    bad = sample(51, watch="weighed", values={"long": "x" * 1_000_000})
    written, scales = Topics(), Scales(intake, "weighed")
    lookout = replace(started(pool, Routes((), told("default", *everyone)), written), ledger=scales)
    lookout(arrivals([*heavy, bad]))
    assert len(written.on("deliveries.")) == 50 * 20
    assert [each.key for each in written.on("alerts.rejected")] == [bad.alert_id]
    assert 0 < scales.most_bytes <= 3 * TRANSACTION_LIMIT_BYTES


@pytest.mark.parametrize(
    "poison",
    [
        {"values": {"text": "a\0b"}},
        {"values": {"deep": [{"\0": 1}]}},
        {"values": {"long": "x" * 1_000_000}},
    ],
)
def test_a_poison_alert_is_kept_aside_and_the_others_go_on(
    pool: Pool, poison: dict[str, Any]
) -> None:
    written = Topics()
    good = [finding(next(NAMESPACES), number) for number in range(8)]
    bad = sample(1000, **poison)
    started(pool, ROUTES, written)(arrivals([*good[:3], bad, *good[3:]]))
    check(pool, written, good)
    (kept,) = written.on("alerts.rejected")
    record = Rejected.decode(kept.value)
    assert record.reason in ("unstorable", "too_large")
    assert record.detail
    assert record.original == bad.encode()
    assert Alert.decode(record.original).alert_id == kept.key == bad.alert_id


def test_numbers_of_any_size_are_kept_exact_on_the_way_through_the_outbox(
    pool: Pool,
) -> None:
    written = Topics()
    values = {"large": 10**40, "small": 1e-300, "huge": 1e300, "fraction": 0.1, "none": None}
    alert = sample(2000, values=values)
    with pytest.raises(Crash):
        started(pool, ROUTES, written, Point.RECORDED)(arrivals([alert]))
    started(pool, ROUTES, written)(arrivals([alert]))
    for each in written.on("deliveries."):
        again = Delivery.decode(each.value)
        kept = again.alert.values
        assert (kept["large"], kept["none"]) == (10**40, None)
        assert [float(kept[name]) for name in ("small", "huge", "fraction")] == [1e-300, 1e300, 0.1]
        assert Delivery.decode(again.encode()) == again


TEXT = st.text(max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda each: st.lists(each, max_size=4) | st.dictionaries(TEXT, each, max_size=4),
    max_leaves=10,
)


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.sampled_from(sorted(Alert.model_fields)), JSON, max_size=3), JSON)
def test_any_json_is_malformed_recorded_or_kept_aside(
    pool: Pool, changes: dict[str, Any], value: Any
) -> None:
    alert = finding(next(NAMESPACES), 1)
    record = orjson.loads(alert.encode()) | changes | {"values": {"any": value}}
    original = json.dumps(record).encode()
    written = Topics()
    try:
        arrival = decode(original)
    except Malformed:
        return
    started(pool, ROUTES, written)([arrival])
    assert bool(written.on("deliveries.")) != bool(written.on("alerts.rejected"))
