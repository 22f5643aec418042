"""What waits for a rule, in memory; see ledger/alerts/suppressions.py and judging.py."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import orjson

from services.backbone.ledger.alerts.decisions import Decision
from services.backbone.ledger.alerts.suppressions import (
    FIRST,
    MEMBERS_LIMIT,
    PORTIONS_LIMIT,
    Judge,
    Member,
    Moved,
    Ruling,
    Waiting,
    fitting,
)
from services.contracts.states import State
from tests.simulation.memory.tables import SENDABLE, Row, Tables

Place = tuple[datetime, str]


@dataclass(frozen=True)
class MemorySuppressions:
    """The statements of Suppressions, each at one moment."""

    tables: Tables
    limit: int = 500
    members_limit: int = MEMBERS_LIMIT

    def judge_due(self, judge: Judge) -> list[Moved]:
        """Judge rows whose time has come."""
        now = self.tables.now()
        due = self._waiting(lambda row: row.group_key is None and row.next_attempt_at <= now)
        rows = self._turn(sorted(due, key=lambda row: row.next_attempt_at))
        return self.rule(rows, judge)

    def judge_ended_early(self, judge: Judge) -> list[Moved]:
        """Judge rows whose silence somebody has ended before its time."""
        now = self.tables.now()
        ended = {
            f"silence:{each.silence_id}"
            for each in self.tables.silences.values()
            if each.ended_at is not None and each.ends_at.timestamp() > now
        }
        rows = self._turn(self._waiting(lambda row: row.suppressed_by in ended))
        return self.rule(rows, judge)

    def judge_page(self, after: str, judge: Judge) -> tuple[str | None, list[Moved]]:
        """Judge the next suppressed rows above an id."""
        found = self._waiting(lambda row: row.group_key is None and row.delivery_id > after)
        rows = self._turn(sorted(found, key=lambda row: row.delivery_id))
        return (rows[-1].delivery_id if rows else None), self.rule(rows, judge)

    def next_to_send(self, channel: str, ahead_seconds: float) -> list[Waiting]:
        """Return the rows that claims of a channel would take next."""
        until = self.tables.now() + ahead_seconds
        due = [
            row
            for row in self._unclaimed()
            if row.channel == channel and row.next_attempt_at <= until
        ]
        due.sort(key=lambda row: (row.next_attempt_at, row.delivery_id))
        rows: list[Waiting] = []
        for _ in range(PORTIONS_LIMIT):
            rows += self._turn(due[len(rows) : self.limit])
            if len(rows) >= min(len(due), self.limit):
                break
        return rows

    def backlog(self, after: Place) -> tuple[Place, list[Waiting]]:
        """Return the next page of all rows that wait for a claim."""
        place = (after[0].timestamp(), after[1])
        found = [row for row in self._unclaimed() if (row.created_at, row.delivery_id) > place]
        found.sort(key=lambda row: (row.created_at, row.delivery_id))
        rows = self._turn(found)
        return ((rows[-1].created_at, rows[-1].delivery_id) if rows else FIRST), rows

    def judge_groups(self, judge: Judge) -> list[Moved]:
        """Judge the members of each group whose window is over or that is full."""
        named = {
            row.group_key or "" for row in self._waiting(lambda row: row.group_key is not None)
        }
        # A judge may move a row from one group into the next: members are looked up in their turn.
        due = [group for group in sorted(named) if self._due_members(group)]
        moved: list[Moved] = []
        for group in due:
            members = self._due_members(group)
            for row in members[self.members_limit :]:
                row.next_attempt_at = min(row.next_attempt_at, self.tables.now())
            rows = [self._seen(row) for row in members[: self.members_limit]]
            moved += self.rule(rows, judge)
            if len(moved) >= self.limit:
                break
        return moved

    def _due_members(self, group: str) -> list[Row]:
        members = self._waiting(lambda row: row.group_key == group)
        if not members:
            return []
        limit = min(row.group_limit or 0 for row in members)
        over = min(row.next_attempt_at for row in members) <= self.tables.now()
        if not over and len(members) < limit:
            return []
        return sorted(members, key=lambda row: (row.created_at, row.delivery_id))[:limit]

    def rule(self, rows: Sequence[Waiting], judge: Judge) -> list[Moved]:
        """Have rows judged that were looked at, maybe some time ago."""
        rulings = judge(moment(self.tables.now()), rows) if rows else []
        moved = (self._apply(each) for each in rulings)
        found = [each for each in moved if each is not None]
        self.tables.decisions += [_decision(moved, stage) for moved, stage in found]
        return [moved for moved, _ in found]

    def _turn(self, found: Sequence[Row]) -> list[Waiting]:
        """Return the first rows, as many as a turn looks at."""
        rows = [self._seen(row) for row in found[: self.limit]]
        return rows[: fitting((max(1, len(row.members)) for row in rows), self.members_limit)]

    def _waiting(self, fits: Callable[[Row], bool]) -> list[Row]:
        rows = self.tables.rows.values()
        return [row for row in rows if row.state is State.SUPPRESSED and fits(row)]

    def _unclaimed(self) -> list[Row]:
        return [
            row
            for row in self.tables.rows.values()
            if row.state in SENDABLE and row.delivery_id not in self.tables.words
        ]

    def _seen(self, row: Row) -> Waiting:
        tables = self.tables
        return Waiting(
            delivery_id=row.delivery_id,
            alert_id=row.alert_id,
            channel=row.channel,
            recipient=row.recipient,
            state=row.state,
            attempt=row.attempt,
            fence=row.fence,
            plan=row.plan,
            alert=tables.head(row.alert_id),
            subject=row.subject,
            suppressed_by=row.suppressed_by,
            next_attempt_at=moment(row.next_attempt_at),
            created_at=moment(row.created_at),
            acknowledged=row.alert_id in tables.acknowledgements,
            members=tuple(
                Member(
                    each.plan, tables.head(each.alert_id), each.alert_id in tables.acknowledgements
                )
                for each in tables.members(row)
            ),
        )

    def _apply(self, ruling: Ruling) -> tuple[Moved, str] | None:
        row, now = self.tables.rows[ruling.row.delivery_id], self.tables.now()
        if (row.state, row.fence) != (ruling.row.state, ruling.row.fence):
            return None
        before, waits = row.state, ruling.suppression
        if ruling.after is not before:
            self.tables.move(row, ruling.after)
        row.updated_at, row.reason = now, ruling.why
        row.digest_id = ruling.digest_id or row.digest_id
        if ruling.after is not State.SUPPRESSED:
            row.next_attempt_at = max(now, row.not_before or now)
            row.not_before = row.suppressed_by = row.group_key = row.group_limit = None
        elif waits is not None:
            if before is not State.SUPPRESSED:
                row.not_before = row.next_attempt_at
            row.next_attempt_at, row.suppressed_by = waits.until.timestamp(), waits.by
            row.group_key, row.group_limit = waits.group_key, waits.group_limit
        if ruling.message is not None:
            _rewrite(row, *ruling.message)
        if ruling.after is State.PENDING:
            row.published_at = None
        told = (row.delivery_id, row.alert_id, row.channel, row.recipient, before, ruling.after)
        size = len(row.record.encode()) if ruling.after is State.PENDING else 0
        return Moved(*told, row.attempt, row.reason, size), ruling.stage


def moment(seconds: float) -> datetime:
    """Return a time as the ledger gives it."""
    return datetime.fromtimestamp(seconds, UTC)


def _rewrite(row: Row, subject: str, text: str) -> None:
    record = orjson.loads(row.record) | {"subject": subject, "text": text}
    row.subject, row.record = subject, orjson.dumps(record).decode()


def _decision(moved: Moved, stage: str) -> Decision:
    return Decision(moved.alert_id, moved.delivery_id, stage, moved.after.value, moved.reason)
