"""Deliveries that wait for a rule (silence, quiet hours, inhibition, group), and their release.

A turn locks some rows, has them judged by a pure function, and writes the rulings with their
decisions in the same transaction: a crash leaves either all of it or nothing.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from itertools import accumulate
from typing import Any, Final, LiteralString

from psycopg.rows import kwargs_row

from services.backbone.ledger.alerts import suppressions_sql
from services.backbone.ledger.database import Connection, Pool, transaction
from services.contracts.states import State


class Kind(StrEnum):
    """Why a delivery waits, strongest first."""

    SILENCE = "silence"
    WINDOW = "window"
    INHIBITION = "inhibition"
    QUIET = "quiet"
    GROUP = "group"


@dataclass(frozen=True, slots=True)
class Suppression:
    """What a delivery waits for and until when; `why` is for people.

    Members of a digest to be share a `group_key`; at `group_limit` members it is sent at once.
    """

    kind: Kind
    name: str
    until: datetime
    why: str
    group_key: str | None = None
    group_limit: int | None = None

    @property
    def by(self) -> str:
        """The rule as the ledger keeps it: kind and name."""
        return f"{self.kind.value}:{self.name}"


@dataclass(frozen=True, slots=True)
class Member:
    """One of the alerts that a digest tells, with the plan that led to it."""

    plan: dict[str, Any]
    alert: str
    acknowledged: bool


@dataclass(frozen=True, slots=True)
class Waiting:
    """One row to judge; `alert` is the alert's JSON without values and event ids.

    `members` are the alerts of a digest that is made already, its own among them; else empty.
    """

    delivery_id: str
    alert_id: str
    channel: str
    recipient: str
    state: State
    attempt: int
    fence: int
    plan: dict[str, Any]
    alert: str
    subject: str
    suppressed_by: str | None
    next_attempt_at: datetime
    created_at: datetime
    acknowledged: bool
    members: tuple[Member, ...] = ()


@dataclass(frozen=True, slots=True)
class Ruling:
    """What becomes of one row, and why.

    SUPPRESSED needs a suppression; PENDING is released and goes back into the outbox. `message`
    (subject, text) replaces what the row says; `digest_id` is the delivery that tells its alert.
    """

    row: Waiting
    after: State
    stage: str
    why: str
    suppression: Suppression | None = None
    digest_id: str | None = None
    message: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Moved:
    """A row that a ruling has moved; `size_bytes` is its record's, 0 unless it is released."""

    delivery_id: str
    alert_id: str
    channel: str
    recipient: str
    before: State
    after: State
    attempt: int
    reason: str
    size_bytes: int


Judge = Callable[[datetime, Sequence[Waiting]], Sequence[Ruling]]
"""Rules on rows at a time of the ledger's clock; rows without a ruling stay as they are."""

FIRST: Final = (datetime(1970, 1, 1, tzinfo=UTC), "")
"""Before every row of the backlog."""

MEMBERS_LIMIT: Final = 5000
"""Most alerts that one transaction judges: Postgres ends one that is silent for 5 s."""
HELD_AGAINST_LIMIT: Final = 300_000
"""Most rules that all alerts of one transaction are held against: about a second of a core."""

PORTIONS_LIMIT: Final = 4
"""Most such transactions for what a channel sends next: other duties wait meanwhile."""


class Suppressions:
    """Moves rows into and out of SUPPRESSED; every method raises Transient.

    Several programs may turn at once: what one has locked, the others skip. `rules` tells how many
    an alert is held against now.
    """

    def __init__(self, pool: Pool, limit: int = 500, rules: Callable[[], int] = lambda: 0) -> None:
        self._pool = pool
        self._limit = limit
        self._rules = rules

    def judge_due(self, judge: Judge) -> list[Moved]:
        """Judge rows whose time has come."""
        return self._turn(suppressions_sql.DUE, judge).moved

    def judge_ended_early(self, judge: Judge) -> list[Moved]:
        """Judge rows whose silence somebody has ended before its time."""
        return self._turn(suppressions_sql.ENDED_EARLY, judge).moved

    def judge_page(self, after: str, judge: Judge) -> tuple[str | None, list[Moved]]:
        """Judge the next suppressed rows above an id; return the last id, or None at the end."""
        turn = self._turn(suppressions_sql.PAGE, judge, after=after)
        return (turn.rows[-1].delivery_id if turn.rows else None), turn.moved

    def judge_next_to_send(
        self, channels: Sequence[str], ahead_seconds: float, judge: Judge
    ) -> list[Moved]:
        """Judge the rows that claims would take next, those due within some seconds included.

        A row that is claimed meanwhile is left alone. Each channel has transactions of its own.
        """
        return [moved for each in channels for moved in self._next_of(each, ahead_seconds, judge)]

    def _next_of(self, channel: str, ahead_seconds: float, judge: Judge) -> list[Moved]:
        """Judge as many rows of a channel as a turn may look at, if need be in some portions:
        those that may go stay where they are, so a later turn would begin with them again.
        """
        moved: list[Moved] = []
        after, left = FIRST, self._limit
        for _ in range(PORTIONS_LIMIT):
            terms = {"channel": channel, "ahead": ahead_seconds, "limit": left}
            place = {"after_at": after[0], "after_id": after[1]}
            turn = self._turn(suppressions_sql.NEXT_TO_SEND, judge, **terms, **place)
            moved += turn.moved
            if not turn.is_cut:
                break
            left -= len(turn.rows)
            after = (turn.rows[-1].next_attempt_at, turn.rows[-1].delivery_id)
        return moved

    def judge_backlog(
        self, after: tuple[datetime, str], judge: Judge
    ) -> tuple[tuple[datetime, str], list[Moved]]:
        """Judge the next page of all rows that wait for a claim, by age; `FIRST` begins anew.

        Returns:
            The place after which the next page begins, and the rows that moved.
        """
        terms = {"after_at": after[0], "after_id": after[1]}
        turn = self._turn(suppressions_sql.BACKLOG, judge, **terms)
        last = turn.rows[-1] if turn.rows else None
        return ((last.created_at, last.delivery_id) if last else FIRST), turn.moved

    def judge_groups(self, judge: Judge) -> list[Moved]:
        """Judge the members of each group whose window is over or that is full, together.

        Once as many rows have moved as a turn may look at, the other groups are the next turn's.
        Of a group with more members than one transaction judges, the oldest are one message, and
        the others are the next turn's, though the window be not over.
        """
        with transaction(self._pool) as connection:
            rows = connection.execute(suppressions_sql.GROUPS, {"limit": self._limit}).fetchall()
        moved: list[Moved] = []
        for (group,) in rows:
            with transaction(self._pool) as connection:
                moved += _judge_group(connection, group, judge, self._alerts_limit)
            if len(moved) >= self._limit:
                break
        return moved

    def _turn(self, question: LiteralString, judge: Judge, **terms: Any) -> "_Turn":
        """Judge the first rows, as many as a turn has time for; the next turn finds the others."""
        with transaction(self._pool) as connection:
            found = _ask(connection, question, {"limit": self._limit} | terms)
            fit = fitting((max(1, each.told) for each in found), self._alerts_limit)
            rows = _with_members(connection, found[:fit])
            return _Turn(rows, _ruled(connection, rows, judge), is_cut=fit < len(found))

    @property
    def _alerts_limit(self) -> int:
        return max(1, min(MEMBERS_LIMIT, HELD_AGAINST_LIMIT // (1 + self._rules())))


@dataclass(frozen=True, slots=True)
class _Turn:
    """The rows that one transaction judged, and whether it found more than it had time for."""

    rows: list[Waiting]
    moved: list[Moved]
    is_cut: bool


def fitting(sizes: Iterable[int], limit: int) -> int:
    """Return how many of the first things have that size together at most; at least one."""
    return max(1, bisect_right(list(accumulate(sizes)), limit))


def _judge_group(connection: Connection, group: str, judge: Judge, limit: int) -> list[Moved]:
    """Judge one group under its lock; whoever comes second finds it no longer due."""
    terms: dict[str, Any] = {"group": group}
    locked = connection.execute(suppressions_sql.GROUP_LOCK, terms).fetchone()
    if not locked or not locked[0]:
        return []
    due = connection.execute(suppressions_sql.STILL_DUE, terms).fetchone()
    if due is None:
        return []
    terms["limit"] = min(due[0], limit)
    found = _ask(connection, suppressions_sql.MEMBERS, terms)
    if others := due[0] - terms["limit"]:
        connection.execute(suppressions_sql.OTHERS_DUE, terms | {"others": others})
    return _ruled(connection, _with_members(connection, found), judge)


@dataclass(frozen=True, slots=True)
class _Found:
    """A row whose members are not read yet, and how many they are."""

    row: Waiting
    told: int


def _ask(connection: Connection, question: LiteralString, terms: dict[str, Any]) -> list[_Found]:
    with connection.cursor(row_factory=kwargs_row(_found)) as cursor:
        return cursor.execute(question, terms).fetchall()


def _found(*, told: int, state: str, **row: Any) -> _Found:
    return _Found(Waiting(state=State(state), **row), told)


def _with_members(connection: Connection, found: Sequence[_Found]) -> list[Waiting]:
    members: defaultdict[str, list[Member]] = defaultdict(list)
    if digests := [each.row.delivery_id for each in found if each.told]:
        for digest, *told in connection.execute(suppressions_sql.TOLD, {"digests": digests}):
            members[digest].append(Member(*told))
    return [replace(each.row, members=tuple(members[each.row.delivery_id])) for each in found]


def _ruled(connection: Connection, rows: Sequence[Waiting], judge: Judge) -> list[Moved]:
    if not rows:
        return []
    (now,) = connection.execute("SELECT ledger_now()").fetchall()[0]
    rulings = judge(now, rows)
    if not rulings:
        return []
    with connection.cursor(row_factory=kwargs_row(_moved)) as cursor:
        return cursor.execute(suppressions_sql.APPLY, _columns(rulings)).fetchall()


def _moved(**row: Any) -> Moved:
    return Moved(**row | {"before": State(row["before"]), "after": State(row["after"])})


def _columns(rulings: Sequence[Ruling]) -> dict[str, list[Any]]:
    waits = [each.suppression for each in rulings]
    messages = [each.message or (None, None) for each in rulings]
    return {
        "ids": [each.row.delivery_id for each in rulings],
        "befores": [each.row.state for each in rulings],
        "fences": [each.row.fence for each in rulings],
        "afters": [each.after for each in rulings],
        "stages": [each.stage for each in rulings],
        "whys": [each.why for each in rulings],
        "untils": [each and each.until for each in waits],
        "bys": [each and each.by for each in waits],
        "groups": [each and each.group_key for each in waits],
        "limits": [each and each.group_limit for each in waits],
        "digests": [each.digest_id for each in rulings],
        "subjects": [subject for subject, _ in messages],
        "texts": [text for _, text in messages],
    }
