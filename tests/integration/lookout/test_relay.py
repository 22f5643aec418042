"""The relay finds what no repeat brings back."""

from collections.abc import Sequence
from datetime import timedelta

import psycopg
import pytest
from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from services.backbone.clock import ManualClock
from services.backbone.errors import Refused, Transient, Trouble
from services.backbone.ledger.alerts.intake import Intake
from services.backbone.ledger.alerts.outbox import Listed, Outbox, OutboxEntry
from services.backbone.ledger.alerts.suppressions import Suppressions
from services.backbone.ledger.database import Pool
from services.backbone.service import Life
from services.lookout import metrics
from services.lookout.outbox.publishing import (
    PART_LIMIT_BYTES,
    PART_LIMIT_DELIVERIES,
    Publisher,
    parts,
)
from services.lookout.outbox.relay import Relay
from services.lookout.routing import Routes, Target
from services.lookout.settings import LookoutSettings
from tests.integration.lookout.crashing import Crash, Point, Topics, arrivals, started
from tests.integration.lookout.test_suppressions import LONG_AGO, quiet, recorded, release
from tests.unit.lookout.samples import sample, told

pytestmark = pytest.mark.postgres

ROUTES = Routes((), told("default", Target("bus", "x"), Target("bus", "y")))
RELAYED = "aldebaran_lookout_relayed_total"
UNPUBLISHED = "aldebaran_lookout_outbox_unpublished"
SETTINGS = LookoutSettings(lookout_relay_deliveries=3, lookout_relay_age_seconds=3600)


def leave_in_outbox(pool: Pool, count: int, routes: Routes = ROUTES) -> None:
    """Record alerts by a lookout that dies before it publishes them."""
    dying = started(pool, routes, Topics(), Point.RECORDED)
    with pytest.raises(Crash):
        dying(arrivals([sample(number) for number in range(count)]))


def grow_older(url: str, seconds: float) -> None:
    """Let all that is recorded have come, and moved, so much earlier."""
    with psycopg.connect(url) as connection:
        connection.execute(
            "UPDATE deliveries "
            "SET created_at = created_at - %(by)s, updated_at = updated_at - %(by)s",
            {"by": timedelta(seconds=seconds)},
        )


def relay(outbox: Outbox, written: Topics, life: Life | None = None) -> Relay:
    return Relay(outbox, Publisher(written, outbox), SETTINGS, life or Life(clock=ManualClock()))


def test_a_sweep_publishes_page_by_page_what_was_left(pool: Pool, outbox: Outbox) -> None:
    leave_in_outbox(pool, 10)
    written = Topics()
    assert relay(outbox, written).sweep(older_than_seconds=0) == 20
    assert len({each.key for each in written.on("deliveries.bus")}) == 20
    assert outbox.waiting() == 0
    assert relay(outbox, written).sweep(older_than_seconds=0) == 0


def test_a_sweep_leaves_alone_what_the_pipeline_may_just_be_publishing(
    pool: Pool, outbox: Outbox
) -> None:
    leave_in_outbox(pool, 1)
    assert relay(outbox, Topics()).sweep(older_than_seconds=60) == 0
    assert outbox.waiting() == 2


def test_what_was_recorded_or_released_just_now_is_not_counted_as_left_over(
    pool: Pool, intake: Intake, outbox: Outbox, ledger_url: str
) -> None:
    leave_in_outbox(pool, 1)
    recorded(intake, sample(9), quiet(LONG_AGO))
    assert (outbox.waiting(), outbox.waiting(older_than_seconds=60)) == (2, 0)
    grow_older(ledger_url, 60)
    Suppressions(pool).judge_due(release)
    assert (outbox.waiting(), outbox.waiting(older_than_seconds=60)) == (3, 2)
    grow_older(ledger_url, 60)
    assert outbox.waiting(older_than_seconds=60) == 3


def test_a_sweep_counts_and_names_only_what_the_brokers_took(pool: Pool, outbox: Outbox) -> None:
    leave_in_outbox(pool, 1)
    before = REGISTRY.get_sample_value(RELAYED) or 0
    with capture_logs() as logs:
        some = relay(outbox, Topics(outcomes=[None, Refused("too large")]))
        assert some.sweep(older_than_seconds=0) == 1
        none = relay(outbox, Topics(outcomes=[Refused("too large")]))
        assert none.sweep(older_than_seconds=0) == 0
    assert outbox.waiting() == 1
    assert REGISTRY.get_sample_value(RELAYED) == before + 1
    (told,) = (each["delivery_ids"] for each in logs if each["event"] == "relayed")
    assert len(told) == 1


def test_kafka_away_leaves_all_in_the_outbox(pool: Pool, outbox: Outbox) -> None:
    leave_in_outbox(pool, 1)
    with pytest.raises(Transient):
        relay(outbox, Topics(away=True)).sweep(older_than_seconds=0)
    assert outbox.waiting() == 2


def test_a_channel_without_a_topic_holds_up_no_other(pool: Pool, outbox: Outbox) -> None:
    more = told("default", *(Target("bus", name) for name in "uvwxyz"), Target("emial", "z"))
    leave_in_outbox(pool, 10, Routes((), more))
    written = Topics(lacking=frozenset({"deliveries.emial"}))
    with pytest.raises(Transient, match=r"deliveries\.emial: away"):
        relay(outbox, written).sweep(older_than_seconds=0)
    assert outbox.waiting() >= 10
    assert len(written.on("deliveries.bus")) > 2 * SETTINGS.lookout_relay_deliveries


def test_it_sweeps_all_at_start_whatever_the_age(pool: Pool, outbox: Outbox) -> None:
    leave_in_outbox(pool, 4)
    life, written = Life(), Topics()
    running = relay(outbox, written, life)
    assert running.trouble() is not None
    running.start()
    while running.trouble() is not None:
        life.stop.wait(0.01)
    life.stop.set()
    running.close()
    assert len(written.written) == 8


@pytest.mark.parametrize(
    "taking_nothing", [Topics(away=True), Topics(lacking=frozenset({"deliveries.bus"}))]
)
def test_what_the_brokers_do_not_take_is_counted_after_a_restart_too(
    pool: Pool, outbox: Outbox, ledger_url: str, taking_nothing: Topics
) -> None:
    leave_in_outbox(pool, 2)
    grow_older(ledger_url, SETTINGS.lookout_relay_age_seconds)
    leave_in_outbox(pool, 3)
    metrics.OUTBOX.set(0)
    life = Life()
    running = relay(outbox, taking_nothing, life)
    before = running.trouble()
    running.start()
    while running.trouble() == before:
        life.stop.wait(0.01)
    life.stop.set()
    running.close()
    assert "away" in (running.trouble() or "")
    assert REGISTRY.get_sample_value(UNPUBLISHED) == 4


class Broken(Outbox):
    """An outbox with a bug."""

    def unpublished(self, *, after: str, older_than_seconds: float, limit: int) -> list[Listed]:
        raise ZeroDivisionError


def test_a_bug_in_the_relay_ends_the_program(pool: Pool, outbox: Outbox) -> None:
    life = Life()
    running = Relay(Broken(pool), Publisher(Topics(), outbox), SETTINGS, life)
    running.start()
    assert life.stop.wait(30)
    with pytest.raises(ZeroDivisionError):
        running.close()


class Marked:
    """Remembers what was marked."""

    def __init__(self) -> None:
        self.ids: list[str] = []

    def mark_published(self, delivery_ids: Sequence[str]) -> None:
        self.ids += delivery_ids


def entries(*sizes: int) -> list[OutboxEntry]:
    return [OutboxEntry(str(index), "bus", b"x" * size) for index, size in enumerate(sizes)]


def test_what_is_refused_for_good_stays_and_what_is_written_is_marked() -> None:
    outcomes: list[Trouble | None] = [None, Refused("too large"), None]
    marks = Marked()
    Publisher(Topics(outcomes=outcomes), marks).publish(entries(1, 2, 3))
    assert marks.ids == ["0", "2"]


def test_what_is_written_is_marked_even_if_another_is_not() -> None:
    marks = Marked()
    with pytest.raises(Transient):
        Publisher(Topics(outcomes=[None, Transient("away")]), marks).publish(entries(1, 2))
    assert marks.ids == ["0"]


def test_what_the_brokers_have_is_told_also_where_they_do_not_take_the_rest() -> None:
    told: list[str] = []
    publisher = Publisher(Topics(outcomes=[None, Transient("away")]), Marked())
    with pytest.raises(Transient):
        told.extend(each for taken in publisher.published(entries(1, 2)) for each in taken)
    assert told == ["0"]


def test_parts_fit_the_queue_and_lose_nothing() -> None:
    many = entries(*[1] * (PART_LIMIT_DELIVERIES + 1), PART_LIMIT_BYTES, 5, PART_LIMIT_BYTES + 1, 1)
    cut = list(parts(many))
    assert [entry for part in cut for entry in part] == many
    assert all(len(part) <= PART_LIMIT_DELIVERIES for part in cut)
    too_large = [part for part in cut if sum(len(each.value) for each in part) > PART_LIMIT_BYTES]
    assert [len(part) for part in too_large] == [1], "only what no part can hold stands alone"
