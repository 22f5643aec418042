"""Keeps looking at the ledger and at the other programs, so that no page ever waits for them."""

import random
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final, Protocol

import psycopg

from services.backbone.backoff import Backoff
from services.backbone.errors import Transient
from services.backbone.ledger.answers.overview import Overview
from services.backbone.ledger.rows import AlertRow
from services.backbone.log import logger
from services.backbone.service import Life
from services.console.lagging import Lags
from services.console.now import POINTS_LIMIT, Now, Point, point
from services.console.parts.figures import LATENCY_SECONDS, Figures, figures
from services.console.parts.looking import Look, Target
from services.console.parts.names import Names
from services.console.parts.refusals import Refusals

log = logger(__name__)

AGAIN: Final = Backoff(first_seconds=0.1, limit_seconds=2.0)
THREADS: Final = 8
ALERTS_SHOWN: Final = 15
_AWAY: Final = "the ledger does not answer"
_BEHIND: Final = "the ledger is not up to date yet: another program may be at it"


class Looking(Protocol):
    """What looks at one program."""

    def look(self, target: Target) -> Look:
        """Return how it stands, in bounded time."""


@dataclass
class Memory:
    """What was seen of each process in the last minute, the points of the drawn lines, and what was
    refused in the last hour.
    """

    seconds: float = LATENCY_SECONDS + 10.0
    looks: dict[Target, deque[Look]] = field(default_factory=dict)
    points: deque[Point] = field(default_factory=lambda: deque(maxlen=POINTS_LIMIT))
    refusals: Refusals = field(default_factory=Refusals)

    def keep(self, seen: list[Look], now_ms: int) -> Figures:
        """Keep what was seen, forget what is too old or gone, and return the figures."""
        self.looks = {look.target: self.looks.get(look.target, deque()) for look in seen}
        for look in seen:
            kept = self.looks[look.target]
            kept.append(look)
            while look.at_seconds - kept[0].at_seconds > self.seconds:
                kept.popleft()
        self.refusals.keep(seen, now_ms)
        made = figures(self.looks, self.refusals.lately())
        self.points.append(point(made))
        return made


@dataclass
class LedgerWatch:
    """Asks the ledger how everything stands; health and pages read what it has found."""

    migrate: Callable[[], object]
    stand: Callable[[int], tuple[Overview, list[AlertRow]]]
    trouble: str | None = "not asked yet"
    migrated: bool = False
    is_met: bool = False
    """Postgres has answered, be it with an error."""

    def behind(self) -> str | None:
        """Return why no page can be right: Postgres is there, and not what the pages ask for.

        An outage after that lets nobody in, either; it may be but a moment without an answer.
        """
        return _BEHIND if self.is_met and not self.migrated else None

    def look(self) -> tuple[Overview, tuple[AlertRow, ...]] | None:
        """Return the overview and the newest alerts; None while the ledger does not answer."""
        try:
            if not self.migrated:
                self.migrate()
                self.migrated = True
            overview, newest = self.stand(ALERTS_SHOWN)
        except Transient as error:
            met = _has_answered(error)
            self.is_met = self.is_met or met
            self.trouble = (self.behind() if met else None) or _AWAY
            log.warning("ledger_away", reason=str(error))
            return None
        self.trouble = None
        return overview, tuple(newest)


def _has_answered(error: Transient) -> bool:
    """Tell whether it was Postgres that said so: only what it says has a state."""
    return isinstance(error.__cause__, psycopg.Error) and error.__cause__.sqlstate is not None


@dataclass
class Watcher:
    """One round after another: look at everything, make one value of it, publish that."""

    ledger: LedgerWatch
    looking: Looking
    parts: Mapping[str, str]
    publish: Callable[[Now], None]
    life: Life
    seconds: float
    memory: Memory = field(default_factory=Memory)
    lags: Callable[[], Lags] = Lags
    names: Names = field(default_factory=Names)

    def watch_until_stopped(self) -> None:
        """Look again and again, sooner while the ledger is away."""
        attempt, rng = 0, random.SystemRandom()
        with ThreadPoolExecutor(THREADS, "look") as pool:
            while not self.life.stop.is_set():
                self.publish(self.round(pool))
                attempt = attempt + 1 if self.ledger.trouble else 0
                wait = AGAIN.seconds(attempt, rng) if attempt else self.seconds
                self.life.clock.wait(self.life.stop, min(wait, self.seconds))

    def round(self, pool: ThreadPoolExecutor) -> Now:
        """Look at everything once."""
        looking = [pool.submit(self.looking.look, each) for each in self.names.targets(self.parts)]
        found = self.ledger.look()
        seen = [each.result() for each in looking]
        now_ms = self.life.clock.now_ms()
        made = self.memory.keep(seen, now_ms)
        overview, alerts = found or (None, ())
        return Now(
            at_ms=now_ms,
            overview=overview,
            alerts=alerts,
            looks=tuple(seen),
            figures=made,
            points=tuple(self.memory.points),
            lags=self.lags(),
        )
