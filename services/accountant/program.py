"""Runs the accountant: compares, accounts, raises, beats; stops beating when it cannot account."""

import random
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

from services.accountant.aside import REJECTED, Aside
from services.accountant.comparing import Comparison
from services.accountant.heartbeat import Heartbeat
from services.accountant.reader import Reader
from services.accountant.retention import Retention
from services.accountant.settings import AccountantSettings
from services.accountant.turns import Turns
from services.backbone.errors import Transient
from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.consumer import Consumer
from services.backbone.ledger.accounting.completeness import Completeness
from services.backbone.ledger.accounting.findings import Findings
from services.backbone.ledger.accounting.overdue import OverdueRows
from services.backbone.ledger.accounting.pruning import Pruning
from services.backbone.ledger.database import open_pool
from services.backbone.ledger.schema import migrate
from services.backbone.log import logger
from services.backbone.outage import SOON, until_there
from services.backbone.progress import Progress
from services.backbone.service import Life
from services.contracts import topics

PROGRAM: Final = "accountant"
POLL_SECONDS: Final = 0.2
STALLED_SECONDS: Final = 120.0
ASK_TIMEOUT_SECONDS: Final = 3.0

log = logger(__name__)


@dataclass
class Accountant:
    """Compares all the time, and accounts every `accountant_turn_seconds`."""

    settings: AccountantSettings
    life: Life
    comparison: Comparison
    turns: Turns
    heartbeat: Heartbeat
    retention: Retention
    trouble: str | None = "has not accounted yet"
    """Why it cannot account, or None."""
    _next_at: float = 0.0
    _failures: int = 0

    def run(self) -> None:
        """Work until the life's stop."""
        progress = Progress(self.life.clock, STALLED_SECONDS)
        self.life.health.add_live("loop", progress.stalled)
        self.life.health.add_ready("accounting", lambda: self.trouble)
        while not self.life.stop.is_set():
            progress.beat()
            try:
                self.step()
                self._failures = 0
            except Transient as error:
                self.trouble = f"cannot account: {error}"
                self._failures += 1
                log.warning("cannot_account", reason=str(error))
                wait = SOON.seconds(self._failures, random.SystemRandom())
                self.life.clock.wait(self.life.stop, wait)

    def step(self) -> None:
        """Compare what is due; account if it is time.

        Raises:
            Transient: Postgres or Kafka is away, or gives nothing of what is there: nothing was
                accounted, so nothing beats.
        """
        self.comparison.step(POLL_SECONDS)
        now = self.life.clock.monotonic_seconds()
        if now < self._next_at:
            return
        kept = self.retention.found()
        if why := self.comparison.trouble():
            raise Transient(why)
        self.turns.turn(kept)
        self._next_at = now + self.settings.accountant_turn_seconds
        self.trouble = None
        self.heartbeat.accounted()


def topic_admin(settings: AccountantSettings) -> TopicAdmin:
    """Return what asks the brokers."""
    return TopicAdmin(settings, PROGRAM, timeout_seconds=ASK_TIMEOUT_SECONDS)


def run_accountant(settings: AccountantSettings, life: Life) -> None:
    """Be the accountant until the life's stop.

    Raises:
        Refused: the ledger's version cannot be used.
    """
    life.health.add_ready("ledger", lambda: None)
    if not settings.targets:
        log.warning("nobody_to_tell", setting="ALDEBARAN_ACCOUNTANT_RECIPIENTS")
    if not until_there(lambda: migrate(settings), life):
        return
    with ExitStack() as closing:
        pool = closing.enter_context(open_pool(settings))
        completeness, findings = Completeness(pool), Findings(pool)
        group, admin = settings.accountant_group, topic_admin(settings)
        alerts = _reader(settings, group, topics.ALERTS, life, closing)
        rejected = _reader(settings, f"{group}-rejected", REJECTED, life, closing)
        heartbeat = Heartbeat(settings, life.clock)
        closing.callback(heartbeat.close)
        aside, behind = Aside(completeness, rejected, admin), settings.accountant_behind_seconds
        comparison = Comparison(completeness, findings, alerts, aside, life.clock, behind)
        overdue, pruning = OverdueRows(pool), Pruning(pool)
        turns = Turns(completeness, overdue, findings, pruning, settings, life.clock)
        retention = Retention(settings, admin)
        Accountant(settings, life, comparison, turns, heartbeat, retention).run()


def _reader(
    settings: AccountantSettings, group: str, topic: str, life: Life, closing: ExitStack
) -> Reader:
    consumer = Consumer(settings, PROGRAM, group=group, topics=[topic])
    closing.callback(consumer.close)
    return Reader(consumer, life.clock)
