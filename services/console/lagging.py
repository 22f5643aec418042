"""Asks again and again how far consumer groups are behind, so that no page waits for brokers."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final

from services.backbone.errors import Trouble
from services.backbone.kafka.lag import Lag, Told
from services.backbone.log import logger
from services.backbone.service import Life
from services.console import metrics

SECONDS: Final = 5.0
"""Time between two questions; each takes some milliseconds, 3 s where no broker answers."""

log = logger(__name__)


@dataclass(frozen=True, slots=True)
class Lags:
    """What the brokers said last, and when; `trouble` is why they say nothing now, or empty.

    So many more groups as are `left_out` are behind, or not, as well.
    """

    groups: tuple[Lag, ...] = ()
    at_ms: int = 0
    trouble: str = "not asked yet"
    left_out: int = 0


class LagWatch:
    """Keeps the newest answer; `read` raises Trouble where there is none."""

    def __init__(self, read: Callable[[], Told], life: Life) -> None:
        self._read = read
        self._life = life
        self._last = Lags()

    @property
    def last(self) -> Lags:
        """The newest answer; safe to ask from any thread."""
        return self._last

    def watch_until_stopped(self) -> None:
        """Ask until the life's stop."""
        while not self._life.stop.is_set():
            self.ask()
            self._life.clock.wait(self._life.stop, SECONDS)

    def ask(self) -> None:
        """Ask once; an answer from before stays, with its time, while there is none."""
        try:
            told = self._read()
            _say_made_again(made_again(told.lags) - made_again(self._last.groups))
            self._last = Lags(told.lags, self._life.clock.now_ms(), "", told.left_out)
            _show(told.lags)
        except Trouble as error:
            log.warning("lag_not_known", reason=str(error))
            metrics.BROKERS_ANSWER.set(0)
            self._last = replace(self._last, trouble="the brokers do not answer")


def _show(groups: tuple[Lag, ...]) -> None:
    metrics.BROKERS_ANSWER.set(1)
    metrics.LAG.clear()
    for each in groups:
        metrics.LAG.labels(group=each.group, topic=each.topic).set(each.records)
    unread = {each.group for each in groups if each.records and not each.has_members}
    metrics.UNREAD.set(len(unread))
    metrics.MADE_AGAIN.set(len(made_again(groups)))


def made_again(groups: Iterable[Lag]) -> set[str]:
    """Return the topics of which a group has settled nothing since they were made again."""
    return {each.topic for each in groups if each.made_again}


def _say_made_again(topics: Iterable[str]) -> None:
    for topic in sorted(topics):
        log.warning("topic_made_again", topic=topic, next="see that all who read it read on")
