"""The consumer loop: read, decode, step, secure, commit; what is committed is settled for good."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Generic, Protocol, TypeVar

from services.backbone.backoff import Backoff
from services.backbone.errors import Transient
from services.backbone.kafka.consumer import Consumer, Incoming
from services.backbone.kafka.producer import Outgoing
from services.backbone.kafka.settled import EVERY_SECONDS
from services.backbone.log import logger
from services.backbone.outage import SOON
from services.backbone.service import Life
from services.contracts import topics
from services.contracts.records import Malformed, Rejected

log = logger(__name__)

Input = TypeVar("Input")
Taken_contra = TypeVar("Taken_contra", contravariant=True)


class Step(Protocol[Taken_contra]):
    """What a program does with a batch: all of it, or Transient and all of it again."""

    def __call__(self, batch: Sequence[Taken_contra]) -> None:
        """Settle the batch; must be idempotent, since a batch may come again.

        Raises:
            Transient: the same batch is tried again, with back-off, until it works.
        """


class Aside(Protocol):
    """What keeps aside the records that cannot be read."""

    def write(self, records: Sequence[Outgoing]) -> None:
        """Write and wait; raises Transient or Refused."""


@dataclass(frozen=True)
class ConsumerLoop(Generic[Input]):
    """Feeds a step from topics; malformed records go to `<topic>.rejected` with the reason."""

    program: str
    consumer: Consumer
    aside: Aside
    decode: Callable[[bytes], Input]
    step: Step[Input]
    life: Life
    batch_limit: int = 500
    poll_seconds: float = 0.2
    backoff: Backoff = SOON
    rng: random.Random = field(default_factory=random.SystemRandom)
    on_turn: Callable[[], None] = lambda: None
    """Called on the loop's thread with every poll, also while a batch is tried again."""
    behind_seconds: Callable[[int], float] = lambda _: 0.0
    """Tells how long a batch of so many waits, that another program may settle it first."""
    secure: Callable[[], None] | None = None
    """Makes sure of what the step has not waited for, if it waits for less than all of it.

    Raises Transient: every batch since the last time comes again.
    """
    _held: list[Sequence[Incoming]] = field(init=False, default_factory=list)
    """Batches that are settled and not secured yet."""

    def run(self) -> None:
        """Work until the life's stop; the batch in hand is finished first."""
        secured_at = self._now()
        while not self.life.stop.is_set():
            self.on_turn()
            batch = self.consumer.batch(self.batch_limit, self.poll_seconds)
            if batch and (seconds := self.behind_seconds(len(batch))):
                self.life.stop.wait(seconds)
            if batch and self._done(partial(self._settle, batch)):
                self._held.append(batch)
            if not batch or self._has_held_enough(self._now() - secured_at):
                self._commit_held()
                secured_at = self._now()
        self._commit_held()

    def _has_held_enough(self, for_seconds: float) -> bool:
        many = sum(map(len, self._held)) >= self.batch_limit
        return self.secure is None or many or for_seconds >= EVERY_SECONDS

    def _now(self) -> float:
        return self.life.clock.monotonic_seconds()

    def _commit_held(self) -> None:
        if self._held and self._done(self._secure_held):
            self.consumer.commit(list(chain.from_iterable(self._held)))
            self._held.clear()

    def _secure_held(self) -> None:
        if self.secure is None:
            return
        try:
            self.secure()
        except Transient:
            for batch in self._held:
                self._settle(batch)
            raise

    def _done(self, work: Callable[[], None]) -> bool:
        """Try until it works; False if we must stop before that."""
        attempt = 0
        while True:
            try:
                work()
                return True
            except Transient as error:
                attempt += 1
                self.on_turn()
                log.warning("try_again", attempt=attempt, reason=str(error))
                if self.life.stop.is_set():
                    return False
                self.consumer.idle(self.backoff.seconds(attempt, self.rng))

    def _settle(self, batch: Sequence[Incoming]) -> None:
        good: list[Input] = []
        bad: list[Outgoing] = []
        for each in batch:
            try:
                good.append(self.decode(each.value))
            except Malformed as error:
                bad.append(self._rejected(each, str(error)))
        if bad:
            self.aside.write(bad)
        if good:
            self.step(good)

    def _rejected(self, message: Incoming, detail: str) -> Outgoing:
        place = f"{message.topic}/{message.partition}/{message.offset}"
        log.warning("record_rejected", place=place, reason=detail)
        record = Rejected.of(
            topic=message.topic,
            source=f"{self.program} {place}",
            reason="malformed",
            detail=detail,
            original=message.value,
            at_ms=self.life.clock.now_ms(),
        )
        return Outgoing(topics.rejected(message.topic), place, record.encode())
