"""Fallbacks: what follows a delivery that failed for good, decided once and with the failure kept.

A delivery that was tried and is HELD is offered too where its plan says so.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final

import orjson
from psycopg.rows import kwargs_row
from psycopg.types.json import Jsonb

from services.backbone.ledger.alerts import later
from services.backbone.ledger.alerts.decisions import Decision, note
from services.backbone.ledger.alerts.escalations import STANDS_FOR_OTHERS
from services.backbone.ledger.alerts.intake import NewDelivery
from services.backbone.ledger.alerts.told import Known, Told
from services.backbone.ledger.database import Connection, Pool, transaction
from services.contracts.states import State

# The conditions stand as in the index deliveries_lost: only then can it be used.
UNDECIDED: Final = """(d.state = 'FAILED'
    OR d.state = 'HELD' AND d.plan ->> 'fallback_on' = 'held' AND d.attempt > 0)
  AND d.fallback_at IS NULL AND d.plan -> 'fallback' <> '[]'"""
LOST: Final = f"""
SELECT d.delivery_id, d.alert_id, d.channel, d.recipient, d.repetition, d.state, d.reason, d.plan,
  d.record::text AS record, coalesce(digest.alerts, '{{}}') AS members,
  (SELECT max(t.claimed_at) FROM attempts t WHERE t.delivery_id = d.delivery_id) AS tried_at,
  ledger_now() AS now
FROM deliveries d LEFT JOIN LATERAL (
  SELECT array_agg((x.record - 'values' - 'event_ids')::text
    ORDER BY m.created_at, m.delivery_id) AS alerts
  FROM deliveries m JOIN alerts x USING (alert_id)
  WHERE d.digest_id = d.delivery_id AND m.digest_id = d.digest_id
) AS digest ON true
WHERE {UNDECIDED} ORDER BY d.updated_at LIMIT %s FOR UPDATE OF d SKIP LOCKED
"""  # noqa: S608 - no input in it
# Read under the alerts' locks: before them a person may acknowledge while a failure is taken.
_ACKNOWLEDGED: Final = """
SELECT alert_id FROM alerts WHERE alert_id = ANY(%s) AND acknowledged_at IS NOT NULL
"""
_DECIDED: Final = "UPDATE deliveries SET fallback_at = ledger_now() WHERE delivery_id = ANY(%s)"
# Who was to be told by a digest that failed is told by the message that follows it.
_HAND_OVER: Final = """
UPDATE deliveries SET digest_id = %(after)s
WHERE digest_id = %(before)s AND delivery_id <> %(before)s
"""
# Who has the alert already goes on with the list; a digest does not, since it tells others too.
_TAKE_ALONG: Final = """
UPDATE deliveries SET plan = plan || %(plan)s
WHERE delivery_id = %(delivery_id)s AND coalesce(plan -> 'fallback', '[]') = '[]'
  AND digest_id IS NULL AND state <> 'SUPPRESSED'
"""
_CARRY: Final = "UPDATE deliveries SET digest_id = delivery_id WHERE delivery_id = %(after)s"
# An alert that a digest told has reached whom the digest has reached, and has failed with it. Such
# a digest is grouped no more, and waits by the quiet hours of each that it tells. What a person has
# closed counts as it stood before: to close it has told nobody, and a closed row never fails again.
_KNOWN: Final = """
SELECT d.delivery_id, d.alert_id, coalesce(c.channel, d.channel) AS channel,
  coalesce(c.recipient, d.recipient) AS recipient, coalesce(c.created_at, d.created_at) AS made_at,
  coalesce(CASE WHEN coalesce(c.state, d.state) = 'CLOSED' THEN (
    SELECT w.before FROM words w
    WHERE w.delivery_id = coalesce(c.delivery_id, d.delivery_id) AND w.action = 'close'
    ORDER BY w.given_at DESC LIMIT 1) END, c.state, d.state) AS state,
  coalesce(c.attempt, d.attempt) AS attempt, c.group_key IS NOT NULL AS grouped,
  CASE WHEN c.state = 'SUPPRESSED' AND c.group_key IS NULL AND c.attempt = 0
    AND c.created_at > ledger_now() - %(young)s THEN
    CASE WHEN d.digest_id IS NULL THEN d.plan
      ELSE c.plan - 'grouping' || jsonb_build_object('quiet', d.plan -> 'quiet') END
  END AS waits
FROM deliveries d LEFT JOIN deliveries c ON c.delivery_id = coalesce(d.digest_id, d.delivery_id)
WHERE d.alert_id = ANY(%(alert_ids)s)
"""


@dataclass(frozen=True, slots=True)
class Lost:
    """A delivery that did not reach its recipient: its plan, why, and its record's JSON."""

    delivery_id: str
    alert_id: str
    channel: str
    recipient: str
    repetition: int
    state: State
    reason: str
    plan: dict[str, Any]
    record: str
    members: list[str]
    """The alerts that a digest tells, as JSON without values and event ids; else empty."""
    tried_at: datetime | None
    """When it was tried last."""
    now: datetime
    acknowledged: bool = False
    """Whether somebody has acknowledged all that it tells."""

    @property
    def alert_ids(self) -> list[str]:
        """The alerts that it tells."""
        return [orjson.loads(each)["alert_id"] for each in self.members] or [self.alert_id]


@dataclass(frozen=True, slots=True)
class Rest:
    """The rest of a list, and the message that takes it along should it fail for good itself."""

    delivery_id: str
    targets: tuple[tuple[str, str], ...]
    """Channels and recipients."""
    on_held: bool = False
    """Whether they are told also where it was tried and is held."""

    @property
    def plan(self) -> dict[str, Any]:
        """What it adds to the message's plan."""
        return fallback_plan(self.targets, on_held=self.on_held)


@dataclass(frozen=True, slots=True)
class Next:
    """What follows: at most one message, and why."""

    decision: Decision
    delivery: NewDelivery | None = None
    exhausted: bool = False
    rest: Rest | None = None


Decide = Callable[[Lost, Told], Next]


@dataclass(slots=True)
class Followed:
    """What a turn did: how many failures, how many of them have no next target, the messages."""

    failures: int = 0
    exhausted: int = 0
    deliveries: list[NewDelivery] = field(default_factory=list)


class Fallbacks:
    """Takes failures that nothing has followed yet; safe to use from several programs.

    A message that waits stands for others while it is `young`, as for escalations.
    """

    def __init__(self, pool: Pool, young: timedelta = STANDS_FOR_OTHERS) -> None:
        self._pool = pool
        self._young = young

    def take(self, limit: int, decide: Decide) -> Followed:
        """Decide about at most `limit` failures in one transaction: each is decided once.

        Raises:
            Transient: Postgres is away.
        """
        with transaction(self._pool) as connection:
            cursor = connection.cursor(row_factory=kwargs_row(_lost))
            lost = cursor.execute(LOST, (limit,)).fetchall()
            if not lost:
                return Followed()
            alert_ids = sorted({id_ for each in lost for id_ in each.alert_ids})
            later.lock(connection, alert_ids)
            lost = _acknowledged(connection, lost, alert_ids)
            told = _told(connection, alert_ids, self._young)
            return _do(connection, lost, [_next(each, told, decide) for each in lost])


def fallback_plan(targets: Iterable[tuple[str, str]], *, on_held: bool) -> dict[str, Any]:
    """Return the part of a delivery's plan that names channels and recipients to tell in sequence
    after it failed for good, and `on_held` also after it was tried and is held.
    """
    plan: dict[str, Any] = {}
    if named := [{"channel": channel, "recipient": recipient} for channel, recipient in targets]:
        plan["fallback"] = named
    if on_held:
        plan["fallback_on"] = "held"
    return plan


def _lost(**row: Any) -> Lost:
    return Lost(**row | {"state": State(row["state"])})


def _next(lost: Lost, told: Told, decide: Decide) -> Next:
    follows = decide(lost, told)
    if follows.delivery is not None:
        told.add(follows.delivery, lost.alert_ids, lost.now)
    return follows


def _acknowledged(
    connection: Connection, lost: Sequence[Lost], alert_ids: Sequence[str]
) -> list[Lost]:
    known = {row[0] for row in connection.execute(_ACKNOWLEDGED, (list(alert_ids),))}
    return [replace(each, acknowledged=known.issuperset(each.alert_ids)) for each in lost]


def _told(connection: Connection, alert_ids: Sequence[str], young: timedelta) -> Told:
    told = Told()
    cursor = connection.cursor(row_factory=kwargs_row(_known))
    for each in cursor.execute(_KNOWN, {"alert_ids": list(alert_ids), "young": young}):
        told.count(each)
    return told


def _known(**row: Any) -> Known:
    return Known(**row | {"state": State(row["state"])})


def _do(connection: Connection, lost: Sequence[Lost], follows: Sequence[Next]) -> Followed:
    made = [each.delivery for each in follows if each.delivery is not None]
    new = later.insert(connection, made)
    kept = [each for each in made if each.delivery.delivery_id in new]
    pairs = zip(lost, follows, strict=True)
    done = [(failed, after) for failed, after in pairs if not _outrun(failed, after, new)]
    note(connection, [after.decision for _, after in done])
    connection.execute(_DECIDED, ([failed.delivery_id for failed, _ in done],))
    for failed, after in done:
        if failed.members and after.delivery is not None:
            _hand_over(connection, failed.delivery_id, after.delivery.delivery.delivery_id)
        if after.rest is not None:
            terms = {"delivery_id": after.rest.delivery_id, "plan": Jsonb(after.rest.plan)}
            connection.execute(_TAKE_ALONG, terms)
    return Followed(len(done), sum(after.exhausted for _, after in done), kept)


def _outrun(failed: Lost, after: Next, new: set[str]) -> bool:
    """Another took a digest's id meanwhile, for a message that tells less: it is decided again.

    Lookouts of before make messages without a lock on the alerts.
    """
    made = after.delivery
    return bool(failed.members) and made is not None and made.delivery.delivery_id not in new


def _hand_over(connection: Connection, before: str, after: str) -> None:
    terms = {"before": before, "after": after}
    connection.execute(_HAND_OVER, terms)
    connection.execute(_CARRY, terms)
