"""What the accountant asks the ledger, and what it keeps there; every answer is bounded."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from psycopg.rows import class_row, scalar_row, tuple_row
from psycopg.types.json import Json

from services.backbone.ledger import accounting_sql, overdue_sql
from services.backbone.ledger.database import Connection, Pool, statements, transaction
from services.backbone.ledger.fallbacks import fallback_plan
from services.contracts.records import Delivery
from services.contracts.watches import ACCOUNTANT

ROWS_LIMIT: Final = 2000
"""Most rows of each kind, and most open findings, that one turn looks at."""
TOTALS_LIMIT: Final = 200
"""Most alerts whose deliveries are counted at once."""
RAISE_LIMIT: Final = 50_000
"""Most findings of one kind that are raised at once."""
PRUNED_FOR_EACH_LIMIT: Final = 10
"""Most deliveries that are removed at once, for each alert that may be."""
NAMED_LIMIT: Final = 10
"""Findings that a message names; of others it tells how many."""


@dataclass(frozen=True, slots=True)
class Absence:
    """A recipient whom the alert's decision names, without a delivery."""

    alert_id: str
    delivery_id: str
    channel: str
    recipient: str


@dataclass(frozen=True, slots=True)
class OpenRow:
    """What waits for evidence, for a person, or for a lookout beyond its time; by its kind."""

    kind: str
    subject: str
    channel: str
    waited_seconds: float
    reason: str


@dataclass(frozen=True, slots=True)
class Backlog:
    """Deliveries of one channel that nobody sends although they are due."""

    channel: str
    count: int
    longest_seconds: float


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, about one subject; its number and when it was found are the
    ledger's, 0 if not kept yet.
    """

    kind: str
    subject: str
    channel: str
    detail: str
    number: int = 0
    found_at_ms: int = 0


@dataclass(frozen=True, slots=True)
class Unraised:
    """Findings of one kind about one channel that nobody was told of: the numbers of all, in order,
    and the first ones.
    """

    kind: str
    channel: str
    numbers: Sequence[int]
    named: Sequence[Finding]


@dataclass(frozen=True, slots=True)
class Forgiven:
    """Something missing that a person has said will stay so."""

    kind: str
    subject: str
    person: str
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Notice:
    """One delivery that tells a person of findings; `instead` are channels and recipients that are
    told in sequence where it fails for good, or is tried and held.
    """

    delivery: Delivery
    numbers: tuple[int, ...]
    instead: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """After which alert a page begins."""

    at_us: int = 0
    alert_id: str = ""


@dataclass(frozen=True, slots=True)
class Totals:
    """How many alerts and deliveries the ledger has of some, and how they stand."""

    alerts: int = 0
    recipients: int = 0
    terminal: int = 0
    open: int = 0

    def __add__(self, other: "Totals") -> "Totals":
        return Totals(
            self.alerts + other.alerts,
            self.recipients + other.recipients,
            self.terminal + other.terminal,
            self.open + other.open,
        )


class AccountBook:
    """Asks and keeps; every method raises Transient while Postgres is away or too busy."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def keep_aside(self, keys: Sequence[str]) -> None:
        """Note what topic alerts.rejected holds."""
        with statements(self._pool) as connection:
            connection.execute(accounting_sql.ASIDE, {"keys": sorted(set(keys))})

    def missing(self, keys: Sequence[str]) -> set[str]:
        """Return the keys, alert ids or places, that are neither recorded nor set aside."""
        return set(self._ask(scalar_row, accounting_sql.MISSING, keys=list(keys)))

    def absences(self, alert_ids: Sequence[str]) -> list[Absence]:
        """Return recipients of these alerts that have no delivery."""
        return self._ask(class_row(Absence), accounting_sql.ABSENCES, ids=list(alert_ids))

    def still_absent(self, delivery_ids: Sequence[str]) -> set[str]:
        """Return those of the deliveries that are still not there, while their alert is."""
        return set(self._ask(scalar_row, accounting_sql.STILL_ABSENT, ids=list(delivery_ids)))

    def page(self, after: Place, *, since_seconds: float, until_seconds: float) -> list[Place]:
        """Return the next alerts accepted between two ages, oldest first."""
        terms = {"since": since_seconds, "until": until_seconds, "limit": ROWS_LIMIT}
        own = {"at_us": after.at_us, "alert_id": after.alert_id}
        return self._ask(class_row(Place), accounting_sql.PAGE, **terms, **own)

    def open_rows(self, since_seconds: float, limits: Mapping[str, float]) -> list[OpenRow]:
        """Return what waits for longer than its kind's limit, the longest first; at most ROWS_LIMIT
        of each kind, and of what has failed only what was made since so long ago.
        """
        return self._ask(class_row(OpenRow), overdue_sql.OVERDUE, **_terms(since_seconds, limits))

    def new_rows(self, since_seconds: float, limits: Mapping[str, float]) -> list[OpenRow]:
        """Return the same without what is known: no open finding is about it."""
        return self._ask(class_row(OpenRow), overdue_sql.NEW, **_terms(since_seconds, limits))

    def settled(self, since_seconds: float, limits: Mapping[str, float]) -> list[Finding]:
        """Return open findings about what is no longer among these rows; at most ROWS_LIMIT of
        each kind.
        """
        return self._ask(class_row(Finding), overdue_sql.SETTLED, **_terms(since_seconds, limits))

    def count_open_rows(self, since_seconds: float, limits: Mapping[str, float]) -> int:
        """Count these rows, also beyond ROWS_LIMIT."""
        terms = _terms(since_seconds, limits)
        return sum(self._ask(scalar_row, overdue_sql.COUNTED, **terms))

    def backlogs(self, due_seconds: float) -> list[Backlog]:
        """Return the channels on which something is due for longer than this."""
        return self._ask(class_row(Backlog), accounting_sql.BACKLOGS, due=due_seconds)

    def open_findings(self, kind: str | None = None) -> list[Finding]:
        """Return what is known to be wrong, of one kind or of all, oldest first.

        Of each kind the oldest, at most so many as a turn looks at.
        """
        return self._ask(
            class_row(Finding), accounting_sql.OPEN_FINDINGS, kind=kind, limit=ROWS_LIMIT
        )

    def open_counts(self) -> dict[str, int]:
        """Count all that is known to be wrong, by kind."""
        return dict(self._ask(tuple_row, accounting_sql.OPEN_COUNTS))

    def keep(self, new: Sequence[Finding], ended: Sequence[Finding]) -> None:
        """Open findings and end others; what is open already is not opened again."""
        columns = {
            "kinds": [each.kind for each in new],
            "subjects": [each.subject for each in new],
            "channels": [each.channel for each in new],
            "details": [each.detail for each in new],
            "ended": [each.number for each in ended],
        }
        with statements(self._pool) as connection:
            connection.execute(accounting_sql.KEEP, columns)

    def forgive(
        self, kinds: Sequence[str], subjects: Sequence[str], *, person: str, reason: str
    ) -> set[str]:
        """End the open findings of these kinds and subjects for good, and note who said so and
        why, in one transaction; return the subjects of those that were open.
        """
        terms = {"kinds": list(kinds), "subjects": list(subjects)}
        return set(
            self._ask(scalar_row, accounting_sql.FORGIVE, **terms, person=person, reason=reason)
        )

    def forgiven(self, limit: int) -> list[Forgiven]:
        """Return what was forgiven, the newest first."""
        return self._ask(class_row(Forgiven), accounting_sql.FORGIVEN, limit=limit)

    def raise_new(
        self,
        compose: Callable[[Sequence[Unraised]], Sequence[Notice]],
        *,
        settle_seconds: float,
        every_seconds: float,
    ) -> list[Notice]:
        """Record notices of findings that were not raised yet, in one transaction with the note
        that they are; no kind is raised more often than `every_seconds`.
        """
        terms = {"settle": settle_seconds, "every": every_seconds, "limit": RAISE_LIMIT}
        with transaction(self._pool) as connection:
            notices = list(compose(_unraised(connection, terms)))
            for notice in notices:
                connection.execute(accounting_sql.RAISE, _notice_terms(notice))
        return notices

    def prune(self, retention_seconds: float, limit: int) -> int:
        """Remove the oldest alerts beyond the retention, with all that is known of them, unless
        one of their deliveries is still open; return how many.

        An alert stays until its last delivery is gone, of which each time some are removed.
        """
        terms = {"retention": retention_seconds, "limit": limit}
        terms["deliveries"] = PRUNED_FOR_EACH_LIMIT * limit
        with statements(self._pool) as connection:
            connection.execute(accounting_sql.PRUNE_DELIVERIES, terms)
            removed = connection.execute(accounting_sql.PRUNE, terms).rowcount
            connection.execute(accounting_sql.PRUNE_NOTES, terms)
        return removed

    def totals(self, alert_ids: Sequence[str]) -> Totals:
        """Count those of the alerts that are there, and their deliveries.

        At most TOTALS_LIMIT, since each may have very many.
        """
        found: list[Totals] = self._ask(
            class_row(Totals), accounting_sql.TOTALS, ids=list(alert_ids)
        )
        return found[0]

    def _ask(self, row_factory: Any, statement: str, **terms: Any) -> list[Any]:
        with statements(self._pool) as connection:
            cursor = connection.cursor(row_factory=row_factory)
            return list(cursor.execute(statement.encode(), terms).fetchall())


def _terms(since_seconds: float, limits: Mapping[str, float]) -> dict[str, Any]:
    return {"since": since_seconds, "limit": ROWS_LIMIT, "own": ACCOUNTANT, **limits}


def _unraised(connection: Connection, terms: Mapping[str, Any]) -> list[Unraised]:
    groups = connection.execute(accounting_sql.UNRAISED, terms).fetchall()
    first = [number for _, _, numbers in groups for number in numbers[:NAMED_LIMIT]]
    with connection.cursor(row_factory=class_row(Finding)) as cursor:
        found = cursor.execute(accounting_sql.NAMED, {"numbers": first}).fetchall()
    named = {each.number: each for each in found}
    return [
        Unraised(kind, channel, numbers, [named[number] for number in numbers[:NAMED_LIMIT]])
        for kind, channel, numbers in groups
    ]


def _notice_terms(notice: Notice) -> dict[str, Any]:
    return {
        "alert": notice.delivery.alert.encode().decode(),
        "delivery": notice.delivery.encode().decode(),
        "numbers": list(notice.numbers),
        "plan": Json(fallback_plan(notice.instead, on_held=bool(notice.instead))),
    }
