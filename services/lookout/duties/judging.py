"""The duties that judge anew: what waits, what is next to be sent, and groups."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from services.backbone.ledger.alerts.suppressions import FIRST, Suppressions
from services.lookout.decisions.rejudgement import Rejudgement
from services.lookout.duties.telling import Teller
from services.lookout.intake.circumstances import Circumstances
from services.lookout.routing import Routes

AHEAD_SECONDS: Final = 2.0
"""Rows that are due so soon are judged too, since a claim may take them before the next turn."""


@dataclass(frozen=True)
class Bench:
    """What every judging duty works with."""

    suppressions: Suppressions
    circumstances: Circumstances
    routes: Callable[[], Routes]
    teller: Teller
    age_limit: timedelta

    def rejudgement(self) -> Rejudgement:
        """Return a judge under what stands now."""
        routes = self.routes()
        return Rejudgement(routes, self.circumstances.standing(routes), self.age_limit)


@dataclass
class Releasing:
    """Judges what waits: when its time comes, when its silence was ended, when routes change.

    All that waits is walked through, page by page, after a start and whenever it may be free before
    its time: the routes are others, a silence is over, an inhibiting alert was acknowledged.
    """

    bench: Bench
    name: str = "releasing"
    _judged_under: tuple[str, int] | None = None
    _page_after: str | None = None
    _walk_again: bool = False

    def do(self) -> int:
        """Judge one page of each; return how many rows moved.

        Raises:
            Transient: Postgres is away.
        """
        judge = self.bench.rejudgement()
        moved = self.bench.suppressions.judge_due(judge.released)
        done = self.bench.teller.tell(moved)
        moved = self.bench.suppressions.judge_ended_early(judge.released)
        return done + self.bench.teller.tell(moved) + self._page(judge)

    def _page(self, judge: Rejudgement) -> int:
        """Judge the next page of a walk; a change during it leads to one more, after its end."""
        under = (judge.routes.version_id, self.bench.circumstances.loosened)
        if under != self._judged_under:
            self._judged_under, self._walk_again = under, True
        if self._page_after is None and self._walk_again:
            self._page_after, self._walk_again = "", False
        if self._page_after is None:
            return 0
        self._page_after, moved = self.bench.suppressions.judge_page(
            self._page_after, judge.released
        )
        more = self._page_after is not None or self._walk_again
        return max(self.bench.teller.tell(moved), int(more))


@dataclass
class Sweeping:
    """Holds back what was recorded before a rule began to hold and is not claimed yet.

    Each turn looks at what claims would take next, and walks one page further through the rest:
    a destination that is left alone may keep much waiting before what others are sent.
    """

    bench: Bench
    channels: Sequence[str]
    name: str = "sweeping"
    _place: tuple[datetime, str] = FIRST

    def do(self) -> int:
        """Judge such rows; return how many are held back.

        Raises:
            Transient: Postgres is away.
        """
        judge = self.bench.rejudgement()
        standing = judge.standing
        if not (standing.silences or standing.windows or standing.fired or judge.routes.times):
            return 0
        suppressions, teller = self.bench.suppressions, self.bench.teller
        moved = suppressions.judge_next_to_send(self.channels, AHEAD_SECONDS, judge.swept)
        done = teller.tell(moved)
        self._place, moved = suppressions.judge_backlog(self._place, judge.swept)
        return done + teller.tell(moved)


@dataclass(frozen=True)
class Gathering:
    """Makes one message of each group whose window is over, or that is full."""

    bench: Bench
    name: str = "gathering"

    def do(self) -> int:
        """Judge such groups; return how many rows moved.

        Raises:
            Transient: Postgres is away.
        """
        moved = self.bench.suppressions.judge_groups(self.bench.rejudgement().gathered)
        return self.bench.teller.tell(moved)
