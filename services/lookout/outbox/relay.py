"""The relay: publishes what a crash or an outage has left in the outbox."""

import threading
from typing import Final

from services.backbone.errors import Transient
from services.backbone.ledger.alerts.outbox import Listed, Outbox, OutboxEntry
from services.backbone.log import logger
from services.backbone.service import Life
from services.lookout import metrics
from services.lookout.outbox.publishing import Publisher
from services.lookout.settings import LookoutSettings

PAGES_LIMIT: Final = 1000
"""Pages of one sweep; the next sweep begins at the front again."""

log = logger(__name__)


class Relay:
    """Sweeps the outbox at start and every few seconds, on a thread of its own.

    Only entries of some age are taken, so that it does not race the pipeline, which publishes at
    once what it records. Two relays at a time publish some twice, which harms nobody.
    """

    def __init__(
        self, outbox: Outbox, publisher: Publisher, settings: LookoutSettings, life: Life
    ) -> None:
        self._outbox = outbox
        self._publisher = publisher
        self._settings = settings
        self._life = life
        self._trouble: str | None = "the outbox was not looked at yet"
        self._bug: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="relay", daemon=True)

    def start(self) -> None:
        """Begin to sweep; ends with the life."""
        self._thread.start()

    def close(self) -> None:
        """Wait for the sweep in hand; raise what has ended the thread, if it was a bug."""
        self._thread.join(timeout=self._settings.drain_timeout_seconds)
        if self._bug is not None:
            raise self._bug

    def trouble(self) -> str | None:
        """Return what the last sweep has met: Postgres or Kafka away; None if it went well."""
        return self._trouble

    def sweep(self, older_than_seconds: float) -> int:
        """Publish entries of at least this age; return how many the brokers have taken.

        A channel without a topic holds up no other: only a portion that they take nothing of ends
        it.

        Raises:
            Transient: Postgres or Kafka is away, or does not take some.
        """
        published = 0
        page: list[Listed] = []
        left: Transient | None = None
        for _ in range(PAGES_LIMIT):
            page = self._outbox.unpublished(
                after=page[-1].delivery_id if page else "",
                older_than_seconds=older_than_seconds,
                limit=self._settings.lookout_relay_deliveries,
            )
            if not page:
                break
            for entries in self._outbox.read(page):
                taken, not_taken = self._publish(entries)
                published, left = published + taken, not_taken or left
        if left is not None:
            raise left
        return published

    def _publish(self, entries: list[OutboxEntry]) -> tuple[int, Transient | None]:
        """Return how many the brokers have taken, and what keeps them from the others."""
        count = 0
        try:
            for taken in self._publisher.published(entries):
                count += len(taken)
                metrics.RELAYED.inc(len(taken))
                log.warning("relayed", delivery_ids=taken)
        except Transient as error:
            if not count:
                raise
            return count, error
        return count, None

    def _run(self) -> None:
        try:
            age_seconds = 0.0
            while not self._life.stop.is_set():
                self._try(age_seconds)
                age_seconds = self._settings.lookout_relay_age_seconds
                self._life.clock.wait(self._life.stop, self._settings.lookout_relay_seconds)
        except Exception as error:  # handed to the main thread, which ends the program with it
            self._bug = error
            self._life.stop.set()

    def _try(self, age_seconds: float) -> None:
        try:
            self._sweep_and_count(age_seconds)
            self._trouble = None
        except Transient as error:
            self._trouble = str(error)
            log.warning("relay_tries_again", reason=str(error))

    def _sweep_and_count(self, age_seconds: float) -> None:
        try:
            self.sweep(age_seconds)
        finally:  # above all where the brokers take nothing, which the count is there to tell
            left_since = self._settings.lookout_relay_age_seconds
            metrics.OUTBOX.set(self._outbox.waiting(left_since))
