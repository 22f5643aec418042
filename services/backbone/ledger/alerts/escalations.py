"""Escalations: steps that are due when nobody has acknowledged an alert in time."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from psycopg.rows import class_row, scalar_row

from services.backbone.ledger.alerts import later
from services.backbone.ledger.alerts.decisions import Decision, note
from services.backbone.ledger.alerts.intake import NewDelivery
from services.backbone.ledger.alerts.later import Earlier
from services.backbone.ledger.database import Connection, Pool, transaction

STANDS_FOR_OTHERS: Final = timedelta(hours=84)
"""Half of the age, by default, from which on nothing is sent without a word of a person."""

MESSAGES_LIMIT: Final = 1000
"""Once so many are decided about, the other steps are the next turn's: Postgres ends a transaction
that is silent for 5 s."""
MESSAGES_LIMIT_BYTES: Final = 16 * 1024 * 1024
"""Once so much is made of them likewise: a turn holds all its messages in memory."""

# The alerts' rows first, as acknowledging does: then neither can come in between. Those that
# another holds do not count, else it would hold up all others when it stands still.
_DUE_ALERTS: Final = """
SELECT alert_id FROM escalations e JOIN alerts a USING (alert_id)
WHERE e.state = 'WAITING' AND e.due_at <= ledger_now()
ORDER BY e.due_at LIMIT %s FOR NO KEY UPDATE OF a SKIP LOCKED
"""
_DUE: Final = """
SELECT e.alert_id, e.name, e.step, e.repetition, e.plan, e.due_at, a.record::text AS record,
  a.accepted_at, a.acknowledged_at IS NOT NULL AS acknowledged, ledger_now() AS now
FROM escalations e JOIN alerts a USING (alert_id)
WHERE e.alert_id = ANY(%s) AND e.state = 'WAITING' AND e.due_at <= ledger_now()
ORDER BY e.alert_id, e.due_at, e.name, e.step FOR UPDATE OF e
"""
_MOVE: Final = """
UPDATE escalations e SET state = t.state, repetition = t.repetition,
  due_at = CASE WHEN t.wait IS NULL THEN e.due_at
    ELSE ledger_now() + make_interval(secs => t.wait) END
FROM unnest(%s::text[], %s::text[], %s::integer[], %s::text[], %s::integer[], %s::float8[])
  AS t(alert_id, name, step, state, repetition, wait)
WHERE e.alert_id = t.alert_id AND e.name = t.name AND e.step = t.step
"""


@dataclass(frozen=True, slots=True)
class Due:
    """One step that is due: what it is for, how often it was done, and the alert's JSON."""

    alert_id: str
    name: str
    step: int
    repetition: int
    plan: dict[str, Any]
    due_at: datetime
    record: str
    accepted_at: datetime
    acknowledged: bool
    now: datetime


@dataclass(frozen=True, slots=True)
class Turn:
    """What a due step comes to: messages, decisions, and in how many seconds it is due again."""

    deliveries: tuple[NewDelivery, ...] = ()
    decisions: tuple[Decision, ...] = ()
    again_seconds: float | None = None
    ended: bool = False

    @property
    def state(self) -> str:
        """Where the step stands now."""
        if self.ended:
            return "ENDED"
        return "DONE" if self.again_seconds is None else "WAITING"


Decide = Callable[[Due, Earlier], Turn]
"""Decides about one step, given what was made of its alert before; at most one message to each."""


@dataclass(slots=True)
class Taken:
    """What a turn did: how many steps, and the messages that were not there before, by id."""

    steps: int = 0
    deliveries: list[NewDelivery] = field(default_factory=list)


class Escalations:
    """Takes due steps; safe to use from several programs at a time.

    A message that waits stands for others while it is `young`: less than the age at which it would
    be too old to be sent.
    """

    def __init__(self, pool: Pool, young: timedelta = STANDS_FOR_OTHERS) -> None:
        self._pool = pool
        self._young = young

    def take(self, limit: int, decide: Decide) -> Taken:
        """Take due steps of at most `limit` alerts, in one transaction: all of it, or nothing.

        Raises:
            Transient: Postgres is away; what was decided did not happen, unless it answers later
                that it did: then the steps are not due any more.
        """
        with transaction(self._pool) as connection:
            cursor = connection.cursor(row_factory=scalar_row)
            alert_ids: list[str] = cursor.execute(_DUE_ALERTS, (limit,)).fetchall()
            if not alert_ids:
                return Taken()
            due = connection.cursor(row_factory=class_row(Due)).execute(_DUE, (alert_ids,))
            if not (steps := due.fetchall()):
                # Another has moved them between the two statements.
                return Taken()
            earlier = later.earlier(connection, alert_ids, self._young)
            turns = decided_first(steps, earlier, decide)
            return _do(connection, steps[: len(turns)], turns)

    def waiting(self, alert_id: str) -> list[tuple[str, int, datetime]]:
        """Return the steps of an alert that are still to come: name, step, when."""
        question = (
            "SELECT name, step, due_at FROM escalations WHERE alert_id = %s"
            " AND state = 'WAITING' ORDER BY due_at, name, step"
        )
        with transaction(self._pool) as connection:
            return [(row[0], row[1], row[2]) for row in connection.execute(question, (alert_id,))]


def decided_first(steps: Sequence[Due], earlier: Earlier, decide: Decide) -> list[Turn]:
    """Decide about the first steps, as many as a turn has time and room for, and at least one."""
    turns: list[Turn] = []
    people = size_bytes = 0
    for step in steps:
        if people >= MESSAGES_LIMIT or size_bytes >= MESSAGES_LIMIT_BYTES:
            break
        turns.append(decided(step, earlier, decide))
        # One for each who was told or was not: to leave somebody out takes as long.
        people += len(turns[-1].decisions)
        size_bytes += sum(len(each.encoded) for each in turns[-1].deliveries)
    return turns


def decided(step: Due, earlier: Earlier, decide: Decide) -> Turn:
    """Decide about a step, and count what is made for the steps after it."""
    turn = decide(step, earlier)
    for each in turn.deliveries:
        earlier.add(each)
    return turn


def _do(connection: Connection, steps: Sequence[Due], turns: Sequence[Turn]) -> Taken:
    made = [delivery for turn in turns for delivery in turn.deliveries]
    new = later.insert(connection, made)
    note(connection, [decision for turn in turns for decision in turn.decisions])
    columns: dict[str, list[Any]] = defaultdict(list)
    for step, turn in zip(steps, turns, strict=True):
        columns["alert_id"].append(step.alert_id)
        columns["name"].append(step.name)
        columns["step"].append(step.step)
        columns["state"].append(turn.state)
        columns["repetition"].append(step.repetition + (0 if turn.ended else 1))
        columns["wait"].append(turn.again_seconds)
    connection.execute(_MOVE, tuple(columns.values()))
    return Taken(len(steps), [each for each in made if each.delivery.delivery_id in new])
