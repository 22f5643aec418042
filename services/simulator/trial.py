"""`python -m services.simulator.trial`: one order too many, and a wait for its alert.

Made for `helm test` and for whoever has just installed: it tells in a line or two whether events go
all the way, from the gateway to an alert and on to a deliverer.
"""

import sys
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

import orjson

from services.backbone.clock import Clock, SystemClock
from services.backbone.errors import Transient, Trouble
from services.backbone.kafka.consumer import Consumer
from services.backbone.settings import Seconds, read_settings
from services.contracts.records import Alert, DeliveryEvent, Malformed
from services.contracts.states import State
from services.contracts.topics import ALERTS, DELIVERY_EVENTS
from services.simulator.gateway_sender import GatewaySender
from services.simulator.history import Kind, Message
from services.simulator.settings import SimulatorSettings
from services.simulator.tally import Outcome

TOLD = frozenset({State.SENT, State.CONFIRMED})
BATCH_LIMIT = 500
MOVES_LIMIT = 10_000
POLL_SECONDS = 0.2


class TrialSettings(SimulatorSettings):
    """How long to wait, beside where the gateway and the brokers are."""

    trial_timeout_seconds: Seconds = 60.0
    """How long to wait for Kafka and the gateway, and then for an alert and its delivery."""


@dataclass
class Trial:
    """What has been seen of one order's alert, fed with records as they come."""

    order: str
    alert: Alert | None = None
    moves: deque[DeliveryEvent] = field(default_factory=lambda: deque(maxlen=MOVES_LIMIT))

    def take(self, records: Iterable[tuple[str, bytes]]) -> None:
        """Note what belongs to the order; whatever else is on the topics is not for us."""
        for topic, value in records:
            try:
                if topic == DELIVERY_EVENTS:
                    self.moves.append(DeliveryEvent.decode(value))
                elif self.order in (alert := Alert.decode(value)).key.values():
                    self.alert = self.alert or alert
            except Malformed:
                continue

    def told(self) -> str | None:
        """Return the channel by which somebody was told first, or None so far."""
        ours = (m for m in self.moves if self.alert and m.alert_id == self.alert.alert_id)
        return next((move.channel for move in ours if move.after in TOLD), None)


def order_messages(order: str) -> list[Message]:
    """Return a request for ten shares and a purchase of eleven."""
    parts = ((Kind.REQUEST, "request", order, 10), (Kind.PURCHASE, "purchase", f"{order}-1", 11))
    return [
        Message(kind, order, orjson.dumps(_event(name, event, order, shares)), shares, len(parts))
        for kind, name, event, shares in parts
    ]


def _event(kind: str, event: str, order: str, shares: int) -> dict[str, str | int]:
    about = {"order_id": order, "client": "trial", "stock": "TRIAL"}
    return {"kind": kind, "event_id": event, "shares": shares, **about}


def send(
    settings: TrialSettings, clock: Clock, order: str, until: float, wait: Callable[[], None]
) -> bool:
    """Post both events, again until some time; tell whether the gateway took both.

    `wait` is called while the gateway does not answer, and takes a moment.
    """
    key = settings.simulator_api_key
    sender = GatewaySender(
        url=settings.simulator_gateway_url,
        stream=settings.simulator_stream,
        api_key=key.get_secret_value() if key else None,
        clock=clock,
        workers=1,
    )
    sender.start(order_messages(order))
    try:
        settled = list(sender.collect())
        while not settled and clock.monotonic_seconds() < until:
            wait()
            settled = list(sender.collect())
    finally:  # whoever is not closed tries for ever
        left = sender.close()
    settled = settled or left
    return all(outcome is Outcome.ACCEPTED for each in settled for outcome in each.outcomes)


@contextmanager
def listening(
    settings: TrialSettings, clock: Clock, order: str, until: float
) -> Iterator[Consumer]:
    """Read both topics from now on: days of others' records before it take longer than a trial.

    Whoever does not read for half a minute is put out of the group, and begins at the end again.

    Raises:
        Transient: Kafka does not say until some time where the topics end.
    """
    topics = [ALERTS, DELIVERY_EVENTS]
    group = f"trial-{order}"
    consumer = Consumer(settings, "trial", group=group, topics=topics, from_beginning=False)
    try:
        _await_begin(consumer, until, clock)
        yield consumer
    finally:
        consumer.close()


def _await_begin(consumer: Consumer, until: float, clock: Clock) -> None:
    while not consumer.has_begun():
        if clock.monotonic_seconds() >= until:
            raise Transient(f"Kafka gave {ALERTS} and {DELIVERY_EVENTS} not to read in time")
        consumer.batch(BATCH_LIMIT, POLL_SECONDS)


def watch(consumer: Consumer, settings: TrialSettings, clock: Clock, trial: Trial) -> None:
    """Read until somebody was told, or the time is over."""
    deadline = clock.monotonic_seconds() + settings.trial_timeout_seconds
    while trial.told() is None and clock.monotonic_seconds() < deadline:
        read(consumer, trial)


def read(consumer: Consumer, trial: Trial) -> None:
    """Read for a moment."""
    batch = consumer.batch(BATCH_LIMIT, POLL_SECONDS)
    trial.take((each.topic, each.value) for each in batch)


def verdict(trial: Trial) -> tuple[str, int]:
    """Return what to say and the exit code."""
    if trial.alert is None:
        return f"order {trial.order}: no alert came in time; look at the auditors' logs", 1
    took = trial.alert.detected_at_ms - trial.alert.appended_at_ms
    found = f"order {trial.order}: alert {trial.alert.alert_id}, found {took} ms after the purchase"
    channel = trial.told()
    if channel is None:
        return f"{found}; nobody was told in time: look at the deliverers' logs", 1
    return f"{found}; told by {channel}", 0


def main() -> int:
    """Try it once."""
    settings, clock = read_settings(TrialSettings), SystemClock()
    trial = Trial(f"trial-{uuid.uuid4().hex[:12]}")
    try:
        until = clock.monotonic_seconds() + settings.trial_timeout_seconds
        with listening(settings, clock, trial.order, until) as consumer:
            if not send(settings, clock, trial.order, until, partial(read, consumer, trial)):
                sys.stderr.write(f"the gateway {settings.simulator_gateway_url} took no events\n")
                return 1
            watch(consumer, settings, clock, trial)
    except Trouble as error:
        sys.stderr.write(f"the trial could not be made: {error}\n")
        return 1
    text, code = verdict(trial)
    (sys.stderr if code else sys.stdout).write(text + "\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
