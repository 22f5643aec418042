"""How everything stands now, in some bounded questions: what a page asks again and again."""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, Final

from psycopg.rows import dict_row

from services.backbone.ledger.answers import reading_sql
from services.backbone.ledger.answers.reading import newest_alerts
from services.backbone.ledger.database import Connection, Pool, snapshot
from services.backbone.ledger.rows import AlertRow, DeliveryRow, delivery_of
from services.backbone.ledger.states import listed
from services.contracts.records import Severity
from services.contracts.states import TERMINAL, State

FOR_PEOPLE: Final = frozenset({State.IN_DOUBT, State.HELD})
"""States that only a person moves on."""

# One branch a severity and a state, each with a limit of its own, so that none hides another.
_OF_ONE_SEVERITY: Final = """
SELECT '{severity}' AS severity, count(*) AS count FROM (
  SELECT FROM alerts WHERE severity = '{severity}' AND acknowledged_at IS NULL
    AND accepted_at > ledger_now() - make_interval(hours => %(hours)s)
  ORDER BY accepted_at DESC LIMIT %(limit)s) AS newest"""
_OPEN_ALERTS: Final = " UNION ALL ".join(
    _OF_ONE_SEVERITY.format(severity=severity) for severity in Severity
)

_BY_CHANNEL: Final = """
SELECT channel, state, count(*) AS count,
  (extract(epoch FROM ledger_now() - min(created_at)) * 1000)::bigint AS oldest_ms
FROM (SELECT channel, state, created_at FROM deliveries
  WHERE {} LIMIT %(limit)s) AS counted
GROUP BY channel, state"""
_LATELY: Final = "created_at > ledger_now() - make_interval(mins => %(minutes)s)"
_DUE: Final = frozenset({State.PENDING, State.RETRY_WAIT})
_KINDS: Final = (_DUE, *(frozenset({each}) for each in sorted(frozenset(State) - TERMINAL - _DUE)))
"""States that are open, each by itself but those that one index holds: to look for one of these
alone would go through all of the other."""


def _of_kind(states: frozenset[State]) -> str:
    return _BY_CHANNEL.format(f"state IN ({listed(states)})")


_OPEN: Final = " UNION ALL ".join(map(_of_kind, _KINDS))
_FAILED_LATELY: Final = _BY_CHANNEL.format(f"state = 'FAILED' AND {_LATELY}")
_NEWEST: Final = _BY_CHANNEL.format(f"{_LATELY} ORDER BY created_at DESC")
_AMONG_NEWEST: Final = frozenset({State.SENT, State.CONFIRMED, State.CLOSED})
"""States that no index knows: they are counted among the newest deliveries of any state."""

_FAILED: Final = """
SELECT count(*) AS count FROM (
  SELECT FROM deliveries WHERE state = 'FAILED' LIMIT %(limit)s) AS failed"""


@dataclass(frozen=True, slots=True)
class ChannelState:
    """How many deliveries of a channel are in a state; `oldest_ms` is 0 where nothing waits."""

    channel: str
    state: State
    count: int
    oldest_ms: int


@dataclass(frozen=True, slots=True)
class AtLeast:
    """Which counts stopped at their limit, so that there may be more.

    What is said of a state holds for every channel, also for one that has none in `channels`.
    """

    open_alerts: list[Severity]
    channels: list[State]
    failed: bool


@dataclass(frozen=True, slots=True)
class Overview:
    """How the ledger stands.

    `open_alerts` counts by severity what came in the last hours and nobody has acknowledged.
    `channels` counts what is open, and of what is over what was recorded in the last minutes.
    `waiting` is what only a person moves on, the oldest first: the first of each state.
    """

    open_alerts: dict[str, int]
    channels: list[ChannelState]
    waiting: list[DeliveryRow]
    failed: int
    at_least: AtLeast

    @property
    def open_alerts_total(self) -> int:
        """All open alerts."""
        return sum(self.open_alerts.values())

    @property
    def waiting_total(self) -> int:
        """How many deliveries only a person moves on, listed or not."""
        return sum(each.count for each in self.channels if each.state in FOR_PEOPLE)

    @property
    def is_waiting_cut(self) -> bool:
        """Whether more may wait for people than were counted."""
        return not FOR_PEOPLE.isdisjoint(self.at_least.channels)


@dataclass(frozen=True, slots=True)
class Spans:
    """How far back it is counted."""

    alerts_hours: int = 24
    ended_minutes: int = 60


@dataclass(frozen=True, slots=True)
class Limits:
    """How many rows are counted at most: alerts of a severity, deliveries of a state, where those
    that are due count as of one, and those that failed; and how many of a state are listed.
    """

    alerts: int = 1000
    deliveries: int = 10_000
    failed: int = 1000
    waiting: int = 100


class Overviews:
    """Asks how everything stands; raises Transient while Postgres is away."""

    def __init__(
        self, pool: Pool, spans: Spans | None = None, limits: Limits | None = None
    ) -> None:
        self._pool = pool
        self._spans = spans or Spans()
        self._limits = limits or Limits()

    def now(self) -> Overview:
        """Return how everything stands, as of one moment."""
        with snapshot(self._pool) as connection:
            return self._read(connection)

    def with_newest(self, limit: int) -> tuple[Overview, list[AlertRow]]:
        """Return it with the newest alerts, of the same moment: a page that shows both must not
        show an alert in doubt beside "nothing waits".
        """
        with snapshot(self._pool) as connection:
            return self._read(connection), newest_alerts(connection, limit).rows

    def _read(self, connection: Connection) -> Overview:
        limits = self._limits
        hours = {"hours": self._spans.alerts_hours, "limit": limits.alerts}
        alerts = _ask(connection, _OPEN_ALERTS, hours)
        channels, cut = self._channels(connection)
        waiting = _ask(connection, reading_sql.WAITING_FOR_PEOPLE, {"limit": limits.waiting})
        failed: int = _ask(connection, _FAILED, {"limit": limits.failed})[0]["count"]
        return Overview(
            open_alerts={row["severity"]: row["count"] for row in alerts if row["count"]},
            channels=channels,
            # Those of one moment always stand alike, or they would change places at each look.
            waiting=sorted(
                map(delivery_of, waiting), key=lambda each: (each.created_at_ms, each.delivery_id)
            ),
            failed=failed,
            at_least=AtLeast(
                open_alerts=[
                    Severity(row["severity"]) for row in alerts if row["count"] >= limits.alerts
                ],
                channels=sorted(cut),
                failed=failed >= limits.failed,
            ),
        )

    def _channels(self, connection: Connection) -> tuple[list[ChannelState], set[State]]:
        """Return what is counted, and the states of which there may be more."""
        terms = {"minutes": self._spans.ended_minutes, "limit": self._limits.deliveries}
        counted = _states(_ask(connection, _OPEN, terms))
        failed, newest = (
            [replace(each, oldest_ms=0) for each in _states(_ask(connection, question, terms))]
            for question in (_FAILED_LATELY, _NEWEST)
        )
        ended = [each for each in newest if each.state in _AMONG_NEWEST]
        by_state = Counter[State]()
        for each in (*counted, *failed):
            by_state[each.state] += each.count
        kinds = [
            each for each in (*_KINDS, frozenset({State.FAILED})) if self._is_cut(by_state, each)
        ]
        if sum(each.count for each in newest) >= self._limits.deliveries:
            kinds.append(_AMONG_NEWEST)
        return counted + failed + ended, set().union(*kinds)

    def _is_cut(self, by_state: Counter[State], kind: frozenset[State]) -> bool:
        return sum(by_state[each] for each in kind) >= self._limits.deliveries


def _states(rows: list[dict[str, Any]]) -> list[ChannelState]:
    return [ChannelState(**row | {"state": State(row["state"])}) for row in rows]


def _ask(connection: Connection, question: str, terms: dict[str, Any]) -> list[dict[str, Any]]:
    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(question.encode(), terms).fetchall()
