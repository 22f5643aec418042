"""Reads the alerts beside everybody else and compares what the auditors raise."""

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from services.backbone.errors import Transient
from services.backbone.kafka.consumer import Incoming
from services.backbone.kafka.settled import Ends
from services.backbone.log import logger
from services.backbone.outage import SOON
from services.backbone.progress import Progress
from services.backbone.service import Life
from services.contracts.records import Alert, Malformed
from services.heartbeat import metrics
from services.heartbeat.agreement import Agreement, Disagreement, Marks, Raised, Shown, Steps
from services.heartbeat.hearing import Hearing

BATCH_LIMIT: Final = 1000
POLL_SECONDS: Final = 0.5
STUCK_LIMIT_SECONDS: Final = 120.0
ASK_TIMEOUT_SECONDS: Final = 3.0
ASK_EVERY_SECONDS: Final = 1.0

log = logger(__name__)


@dataclass
class Listener:
    """Works on a thread of its own, so that the heartbeats' latency is not touched by it."""

    agreement: Agreement
    alerts: Hearing
    steps: Callable[[], Steps]
    marks: Callable[[], Marks]
    life: Life
    shown: Shown
    batch_seconds: float
    _asked: Ends | None = None
    _asked_at: float = 0.0
    _times_assigned: int = 0
    _listening_since: float | None = None

    def listen_until_stopped(self) -> None:
        """Compare until the life's stop."""
        progress = Progress(self.life.clock, STUCK_LIMIT_SECONDS)
        self.life.health.add_live("agreement", progress.stalled)
        self.life.health.add_ready("alerts", self.alerts.trouble)
        try:
            self._turn_until_stopped(progress)
        finally:
            self.alerts.consumer.close()

    def _turn_until_stopped(self, progress: Progress) -> None:
        failures = 0
        while not self.life.stop.is_set():
            progress.beat()
            try:
                self.step()
                failures = 0
            except Transient as error:
                failures += 1
                log.warning("cannot_compare", reason=str(error))
                wait = SOON.seconds(failures, random.SystemRandom())
                self.life.clock.wait(self.life.stop, wait)

    def step(self) -> None:
        """Read what is there; judge what is due once all that was raised by then is read.

        Raises:
            Transient: the brokers are away, so nothing is judged.
        """
        batch = self.alerts.batch(BATCH_LIMIT, POLL_SECONDS)
        now = self._now()
        self._begin_anew_after_a_gap(now)
        for incoming in batch:
            self._take(incoming)
        self._judge_what_is_due(now)
        self.shown.disagreements = tuple(self.agreement.disagreements())
        metrics.DISAGREEMENTS_OPEN.set(len(self.shown.disagreements))
        metrics.UNCOMPARED.set(self.agreement.given_up)

    def _begin_anew_after_a_gap(self, now: float) -> None:
        """Nothing is committed, so each time the partitions are given again begins at their end."""
        times = self.alerts.consumer.times_assigned()
        if times != self._times_assigned:
            self._times_assigned, self._listening_since, self._asked = times, now, None
            self.agreement.forget()

    def _judge_what_is_due(self, now: float) -> None:
        """Ask the brokers for their ends, read up to them, then judge as of when they were asked.

        While alerts flow, a reader is never at the end for longer than a moment.
        """
        may_ask = self._asked is None and now - self._asked_at > ASK_EVERY_SECONDS
        if may_ask and self.agreement.due(now):
            self._asked, self._asked_at = self.alerts.consumer.ends(ASK_TIMEOUT_SECONDS), now
        if self._asked is not None and self.alerts.consumer.has_passed(self._asked):
            self._asked = None
            for found in self.agreement.judge(self._asked_at, self.steps(), self.marks()):
                _tell(found)

    def _take(self, incoming: Incoming) -> None:
        """What is no record is set aside by the lookout; here it is passed over."""
        try:
            alert = Alert.decode(incoming.value)
        except Malformed:
            return
        age_seconds = (incoming.timestamp_ms - alert.appended_at_ms) / 1000
        if self._came_before_all_were_heard():
            self.agreement.remember(alert.alert_id)
            return
        ended = self.agreement.raised(
            Raised(alert.alert_id, alert.watch, alert.auditor, alert.declared),
            age_seconds,
            self._now(),
        )
        for each in ended:
            late = round(self._now() - each.since_seconds, 1)
            log.warning(
                "agreed_late",
                alert_id=each.alert_id,
                watch=each.watch,
                auditor=each.missing,
                after_seconds=late,
            )

    def _came_before_all_were_heard(self) -> bool:
        """Tell whether another auditor may have raised the same before this program listened.

        It may be silent about it until its batch ends: within one it raises an alert once.
        """
        since, enough = self._listening_since, max(self.batch_seconds, self.agreement.late_seconds)
        return since is None or self._now() - since < enough

    def _now(self) -> float:
        return self.life.clock.monotonic_seconds()


class Listening:
    """A listener on a thread of its own; whatever ends it ends the program too."""

    def __init__(self, listener: Listener) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="agreement")
        self._work = self._pool.submit(listener.listen_until_stopped)
        self._work.add_done_callback(lambda _: listener.life.stop.set())

    def end(self) -> None:
        """Wait for its end at the life's stop; raises what ended it before."""
        self._pool.shutdown()
        self._work.result()


def _tell(found: Disagreement) -> None:
    metrics.DISAGREEMENTS.labels(watch=found.watch, auditor=found.missing).inc()
    log.error(
        "auditors_disagree",
        alert_id=found.alert_id,
        watch=found.watch,
        auditor=found.missing,
        raised_by=list(found.raised_by),
    )
