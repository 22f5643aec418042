"""The lookout's way of a batch: decode, drop repeats, route and judge, record, publish."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Protocol

from services.backbone.clock import Clock
from services.backbone.errors import Transient
from services.backbone.kafka.producer import Outgoing
from services.backbone.ledger.alerts.intake import Accepted, NewAlert
from services.backbone.log import logger
from services.backbone.portions import portions
from services.contracts import topics
from services.contracts.records import Alert, Malformed, Rejected
from services.lookout import metrics
from services.lookout.decisions.fanout import Unusable, fan_out
from services.lookout.intake.circumstances import Circumstances
from services.lookout.intake.repeats import SettledAlerts
from services.lookout.outbox.publishing import Publisher, Writer, event_of, goes_now
from services.lookout.routing import DEFAULT, Routes
from services.lookout.templates.words import NO_LINKS, Words
from services.lookout.trials import is_trial

TRANSACTION_LIMIT_BYTES: Final = 4 * 1024 * 1024
"""Most bytes of alerts and their deliveries in one transaction; alerts stay whole."""
EVENTS_LOGGED: Final = 5
"""An alert may name ten thousand events, which its log line has no room for."""

log = logger(__name__)


@dataclass(frozen=True, slots=True)
class Arrival:
    """An alert as it came: read, and as bytes."""

    alert: Alert
    original: bytes


def decode(value: bytes) -> Arrival:
    """Read one record of topic `alerts`.

    Raises:
        Malformed: with the place and the reason.
    """
    try:
        return Arrival(Alert.decode(value), value)
    except Malformed:
        metrics.SET_ASIDE.inc()
        raise


class Ledger(Protocol):
    """What records alerts."""

    def accept(self, batch: Sequence[NewAlert]) -> Accepted:
        """Record alerts that are not recorded yet, each together with its deliveries."""

    def secure(self) -> None:
        """Wait until the disk has what was accepted; Transient: accept all of it again."""


@dataclass(frozen=True)
class Lookout:
    """The step of the consumer loop; a batch that comes again, whole or in part, does no harm."""

    routes: Callable[[], Routes]
    ledger: Ledger
    publisher: Publisher
    writer: Writer
    settled: SettledAlerts
    circumstances: Circumstances
    clock: Clock
    words: Words = NO_LINKS
    channels: Collection[str] = ()
    dropped: Callable[[Sequence[Alert]], None] = lambda _: None
    """Told of each copy of an alert that was dropped; must not wait."""
    recorded: Callable[[Collection[str]], Set[str]] = lambda _: frozenset()
    """Tells, before they are routed, which alerts another lookout has recorded already."""
    behind_seconds: Callable[[int], float] = lambda _: 0.0
    """Tells how long a batch of so many waits, that the other lookout may record it first."""

    def __call__(self, batch: Sequence[Arrival]) -> None:
        """Settle a batch: when this returns, every alert is recorded and published, or rejected.

        What is recorded is safe from a crash of Postgres once it is claimed, or secured.

        Raises:
            Transient: Postgres or Kafka is away; the batch has to come again.
        """
        with metrics.BATCH_SECONDS.time():
            arrivals = self.drop_repeats(batch)
            unusable: list[Unusable] = []
            for part in portions(self.route(arrivals.values()), _size, TRANSACTION_LIMIT_BYTES):
                unusable += self.settle(part)
            self.circumstances.batch_settled()
            self.reject(arrivals, unusable)
            self.dropped(_copies(batch, set(arrivals)))

    def secure(self) -> None:
        """Make sure that no crash undoes what was settled since the last time.

        Raises:
            Transient: Postgres is away, or has lost some of it; all these batches must come again.
        """
        try:
            self.ledger.secure()
        except Transient:
            self.settled.clear()
            raise

    def drop_repeats(self, batch: Sequence[Arrival]) -> dict[str, Arrival]:
        """Return the first of each alert id, without those that are settled already."""
        arrivals: dict[str, Arrival] = {}
        for arrival in batch:
            if arrival.alert.alert_id not in self.settled:
                arrivals.setdefault(arrival.alert.alert_id, arrival)
        return arrivals

    def route(self, arrivals: Collection[Arrival]) -> Iterator[NewAlert | Unusable]:
        """Yield the alerts with their deliveries, and those that cannot be used.

        One at a time, since a whole batch written for every recipient may be larger than memory.
        Alerts of one batch inhibit each other, in whatever sequence they came.
        """
        routes, now_ms = self.routes(), self.clock.now_ms()
        at = datetime.fromtimestamp(now_ms / 1000, UTC)
        real = (each.alert for each in arrivals if not is_trial(each.alert))
        self.circumstances.fire(routes, real, at)
        standing = self.circumstances.standing_for_batch(routes)
        for arrival in self.left_of(arrivals):
            made = fan_out(arrival.alert, routes, standing, now_ms, self.words, self.channels)
            if isinstance(made, Unusable):
                self.circumstances.doubt({made.alert_id})
            yield made

    def left_of(self, arrivals: Collection[Arrival]) -> list[Arrival]:
        """Return what the other of two lookouts has not recorded; the rest is settled."""
        found = self.recorded([each.alert.alert_id for each in arrivals])
        self.circumstances.batch_recorded(self.routes())
        self.circumstances.doubt(found)
        self.settled.add(found)
        metrics.ALERTS.labels("mirrored").inc(len(found))
        return [each for each in arrivals if each.alert.alert_id not in found]

    def settle(self, part: Sequence[NewAlert | Unusable]) -> list[Unusable]:
        """Record and publish what can be used; return what cannot."""
        unusable = [each for each in part if isinstance(each, Unusable)]
        if usable := [each for each in part if isinstance(each, NewAlert)]:
            accepted = self.record(usable)
            self.publish(usable, accepted)
            refused = accepted.unstorable.items()
            unusable += [Unusable(alert_id, "unstorable", why) for alert_id, why in refused]
        return unusable

    def record(self, part: Sequence[NewAlert]) -> Accepted:
        """Record alerts and deliveries together; say which are new."""
        try:
            accepted = self.ledger.accept(part)
        finally:  # also where the answer is lost
            self.circumstances.batch_recorded(self.routes())
        self.circumstances.doubt({each.alert.alert_id for each in part} - accepted.new)
        found = len(part) - len(accepted.new) - len(accepted.unstorable)
        metrics.ALERTS.labels("mirrored").inc(found)
        for each in _new(part, accepted):
            _count(each)
        return accepted

    def publish(self, part: Sequence[NewAlert], accepted: Accepted) -> None:
        """Publish what is new and waits for nothing, and what a crash has left over of repeats."""
        new, recorded_ms = list(_new(part, accepted)), self.clock.now_ms()
        entries = [each.entry() for alert in new for each in alert.deliveries if goes_now(each)]
        try:
            self.publisher.publish([*accepted.left_over, *entries])
            self._measure([*new, *_left_over(part, accepted)])
        finally:
            self._tell(new)  # not before: a broker takes a client's requests in turn
            for each in new:
                _log(each, recorded_ms)
        ids = (each.alert.alert_id for each in part)
        self.settled.add(each for each in ids if each not in accepted.unstorable)

    def reject(self, arrivals: Mapping[str, Arrival], unusable: Sequence[Unusable]) -> None:
        """Keep aside what cannot be used, with the reason."""
        if not unusable:
            return
        self.writer.write([self._rejected(arrivals[each.alert_id], each) for each in unusable])
        metrics.SET_ASIDE.inc(len(unusable))

    def _measure(self, published: Iterable[NewAlert]) -> None:
        now_ms = self.clock.now_ms()
        for each in published:
            metrics.PUBLISHED_SECONDS.observe(max(0, now_ms - each.alert.detected_at_ms) / 1000)

    def _tell(self, new: Iterable[NewAlert]) -> None:
        """Tell of new deliveries; nobody depends on it, so nobody waits for it."""
        now_ms = self.clock.now_ms()
        self.writer.send([event_of(each, now_ms) for alert in new for each in alert.deliveries])

    def _rejected(self, arrival: Arrival, why: Unusable) -> Outgoing:
        log.error("alert_rejected", alert_id=why.alert_id, reason=why.reason, detail=why.detail)
        record = Rejected.of(
            topic=topics.ALERTS,
            source="lookout",
            reason=why.reason,
            detail=why.detail,
            original=arrival.original,
            at_ms=self.clock.now_ms(),
        )
        return Outgoing(topics.rejected(topics.ALERTS), why.alert_id, record.encode())


def _copies(batch: Sequence[Arrival], firsts: set[str]) -> list[Alert]:
    """Return all but the first that we read of an alert, whoever has recorded it: a mirror may."""
    found = []
    for arrival in batch:
        if arrival.alert.alert_id in firsts:
            firsts.remove(arrival.alert.alert_id)
        else:
            found.append(arrival.alert)
    return found


def _size(routed: NewAlert | Unusable) -> int:
    if isinstance(routed, Unusable):
        return 0
    return len(routed.encoded) + sum(len(delivery.encoded) for delivery in routed.deliveries)


def _new(part: Iterable[NewAlert], accepted: Accepted) -> Iterator[NewAlert]:
    return (each for each in part if each.alert.alert_id in accepted.new)


def _left_over(part: Iterable[NewAlert], accepted: Accepted) -> Iterator[NewAlert]:
    """Yield repeats of which a delivery has come to its topic only now."""
    ids = {each.delivery_id for each in accepted.left_over}
    repeats = (each for each in part if each.alert.alert_id not in accepted.new)
    return (
        repeat
        for repeat in repeats
        if any(each.delivery.delivery_id in ids for each in repeat.deliveries)
    )


def _count(new: NewAlert) -> None:
    metrics.ALERTS.labels("new").inc()
    if new.routed_by == DEFAULT:
        metrics.UNROUTED.inc()
    for each in new.deliveries:
        metrics.DELIVERIES.labels(each.delivery.channel).inc()
        if each.suppression is not None:
            metrics.SUPPRESSED.labels(each.suppression.kind.value).inc()


def _log(new: NewAlert, recorded_ms: int) -> None:
    alert = new.alert
    log.info(
        "alert_recorded",
        alert_id=alert.alert_id,
        watch=alert.watch,
        severity=alert.severity.value,
        event_ids=alert.event_ids[:EVENTS_LOGGED],
        routed_by=new.routed_by,
        delivery_ids=[each.delivery.delivery_id for each in new.deliveries],
        waiting={
            each.delivery.delivery_id: each.suppression.by
            for each in new.deliveries
            if each.suppression is not None
        },
        since_detected_ms=recorded_ms - alert.detected_at_ms,
    )
