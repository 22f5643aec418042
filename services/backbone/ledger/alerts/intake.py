"""Accepting alerts: recorded once with their deliveries, which are in the outbox then.

Recording does not wait for the disk; a claim does, and takes along to it what was recorded before
(docs/decisions/0007-recorded-before-the-disk.md).
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import orjson
import psycopg

from services.backbone.errors import Transient
from services.backbone.ledger.alerts.outbox import IN_OUTBOX, OutboxEntry, outbox_entries
from services.backbone.ledger.alerts.steps import NewStep, steps_json
from services.backbone.ledger.alerts.suppressions import Suppression
from services.backbone.ledger.database import Connection, Pool, statements
from services.contracts.records import Alert, Delivery

NEW_DELIVERIES: Final = """INSERT INTO deliveries (delivery_id, alert_id, channel, recipient,
    repetition, record, plan, state, next_attempt_at, reason, suppressed_by, group_key, group_limit)
  SELECT record ->> 'delivery_id', {alert_id}, record ->> 'channel', record ->> 'recipient',
    (record ->> 'repetition')::integer, record, plan -> 'plan',
    CASE WHEN plan ? 'until' THEN 'SUPPRESSED' ELSE 'PENDING' END,
    coalesce((plan ->> 'until')::timestamptz, ledger_now()), coalesce(plan ->> 'why', ''),
    plan ->> 'by', plan ->> 'group_key', (plan ->> 'group_limit')::integer
  FROM ROWS FROM (jsonb_array_elements(%s::jsonb), jsonb_array_elements(%s::jsonb))
    AS given (record, plan)"""
"""Writes deliveries, alone or within a statement, from two JSON arrays: of their records, and of
what `plan_json` returns. `{alert_id}` is how it reads their alert's id."""

_RECORD: Final = f"""
WITH quick AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true)),
fresh AS (
  INSERT INTO alerts (alert_id, watch, severity, summary, record, routed_by, decision, inhibits,
    appended_at, detected_at)
  SELECT record ->> 'alert_id', record ->> 'watch', record ->> 'severity', record ->> 'summary',
    record, routed_by, decision, string_to_array(inhibits, ' '),
    to_timestamp((record ->> 'appended_at_ms')::bigint / 1000.0),
    to_timestamp((record ->> 'detected_at_ms')::bigint / 1000.0)
  FROM ROWS FROM (jsonb_array_elements(%s::jsonb), unnest(%s::text[]),
    jsonb_array_elements(%s::jsonb), unnest(%s::text[]))
    AS given (record, routed_by, decision, inhibits), quick
  ON CONFLICT (alert_id) DO NOTHING
  RETURNING alert_id
), fanned_out AS (
  {NEW_DELIVERIES.format(alert_id="alert_id")}
  JOIN fresh ON fresh.alert_id = record -> 'alert' ->> 'alert_id'
), escalated AS (
  INSERT INTO escalations (alert_id, name, step, due_at, plan)
  SELECT alert_id, given.step ->> 'name', (given.step ->> 'step')::integer,
    ledger_now() + make_interval(secs => (given.step ->> 'after')::float8), given.step -> 'plan'
  FROM jsonb_array_elements(%s::jsonb) AS given (step)
  JOIN fresh ON fresh.alert_id = given.step ->> 'alert_id'
)
SELECT alert_id FROM fresh
"""  # noqa: S608 - no input in it

_RECORDED: Final = "SELECT alert_id FROM alerts WHERE alert_id = ANY(%s)"

# Nobody reads the message that is written to the log; but its commit waits for the disk, which then
# has every commit before it, too.
_SECURE: Final = """
SELECT pg_logical_emit_message(true, 'aldebaran', 'secured'), (
  SELECT count(*) FROM unnest(%s::text[]) AS told (alert_id)
  WHERE NOT EXISTS (SELECT FROM alerts WHERE alerts.alert_id = told.alert_id))
"""

_UNPUBLISHED_OF: Final = f"""
SELECT delivery_id, channel, record::text FROM deliveries
WHERE alert_id = ANY(%s) AND {IN_OUTBOX}
ORDER BY created_at, delivery_id
"""  # noqa: S608 - no input in it

_NEVER_STORABLE: Final = (
    psycopg.DataError,
    psycopg.IntegrityError,
    psycopg.errors.ProgramLimitExceeded,
    psycopg.errors.StatementTooComplex,
)


@dataclass(frozen=True, slots=True)
class NewDelivery:
    """A delivery to record, beside its JSON bytes.

    `plan` is the JSON of what time and failure may need later: route, template, fallback, quiet
    hours, grouping. With a suppression it is recorded as SUPPRESSED and is not in the outbox.
    """

    delivery: Delivery
    encoded: bytes
    plan: bytes = b"{}"
    suppression: Suppression | None = None

    def entry(self) -> OutboxEntry:
        """Return what its topic gets."""
        return OutboxEntry(self.delivery.delivery_id, self.delivery.channel, self.encoded)


@dataclass(frozen=True, slots=True)
class NewAlert:
    """An alert to record, beside its JSON bytes, the routes that were for it, its deliveries.

    `decision` is the JSON of why these are told; `inhibits` are keys by which it mutes others;
    `steps` are what happens if nobody acknowledges it.
    """

    alert: Alert
    encoded: bytes
    routed_by: str
    deliveries: tuple[NewDelivery, ...]
    decision: bytes = b"{}"
    inhibits: tuple[str, ...] = ()
    steps: tuple[NewStep, ...] = ()


@dataclass(slots=True)
class Accepted:
    """What became of a batch, by alert id.

    `new` are recorded now; `left_over` are deliveries of repeats that are not published yet;
    `unstorable` can never be recorded, with the reason.
    """

    new: set[str] = field(default_factory=set)
    left_over: list[OutboxEntry] = field(default_factory=list)
    unstorable: dict[str, str] = field(default_factory=dict)


class Intake:
    """Records alerts; safe to use from several programs, each with one thread that accepts."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._unsecured: set[str] = set()

    def accept(self, batch: Sequence[NewAlert]) -> Accepted:
        """Record alerts that are not recorded yet, each together with its deliveries.

        The batch is one transaction, unless something in it can never be stored: then the others
        are recorded without it. Alert ids in the batch must differ. A crash of Postgres may undo
        it, until something is claimed or `secure` has returned.

        Raises:
            Transient: Postgres is away; what is recorded already will be found as a repeat.
        """
        accepted = Accepted()
        # Two lookouts that insert in the same sequence wait for each other, and never in a ring.
        ordered = sorted(batch, key=lambda each: each.alert.alert_id)
        with statements(self._pool) as connection:
            _accept(connection, ordered, accepted)
            recorded = {each.alert.alert_id for each in ordered} - accepted.unstorable.keys()
            self._unsecured |= recorded
            if repeats := recorded - accepted.new:
                rows = connection.execute(_UNPUBLISHED_OF, (sorted(repeats),))
                accepted.left_over = list(outbox_entries(rows))
        return accepted

    def recorded(self, alert_ids: Collection[str]) -> set[str]:
        """Return which of these alerts anybody has recorded; they are secured like accepted ones.

        Raises:
            Transient: Postgres is away.
        """
        with statements(self._pool) as connection:
            found = {row[0] for row in connection.execute(_RECORDED, (sorted(alert_ids),))}
        self._unsecured |= found
        return found

    def secure(self) -> None:
        """Wait until the disk has all that was accepted since the last time.

        Raises:
            Transient: Postgres is away, or has lost some of it in a crash; accept all of it again.
        """
        if not self._unsecured:
            return
        with statements(self._pool) as connection:
            row = connection.execute(_SECURE, (sorted(self._unsecured),)).fetchone()
        if undone := row[1] if row else 0:
            raise Transient(f"Postgres: a crash has undone the recording of {undone} alerts")
        self._unsecured.clear()


def _accept(connection: Connection, batch: Sequence[NewAlert], accepted: Accepted) -> None:
    """Record a batch; halve it where something in it is unstorable, until only that is left."""
    if not batch:
        return
    try:
        rows = connection.execute(_RECORD, _columns(batch))
        accepted.new.update(row[0] for row in rows)
    except _NEVER_STORABLE as error:
        if len(batch) == 1:
            accepted.unstorable[batch[0].alert.alert_id] = str(error).strip()
            return
        middle = len(batch) // 2
        _accept(connection, batch[:middle], accepted)
        _accept(connection, batch[middle:], accepted)


def _columns(batch: Sequence[NewAlert]) -> tuple[str | list[str] | list[str | None], ...]:
    """Records go as one JSON array each: an array of texts would escape every quote in them."""
    deliveries = [each for alert in batch for each in alert.deliveries]
    return (
        json_array(each.encoded for each in batch),
        [each.routed_by for each in batch],
        json_array(each.decision for each in batch),
        [" ".join(each.inhibits) or None for each in batch],
        json_array(each.encoded for each in deliveries),
        json_array(plan_json(each) for each in deliveries),
        steps_json((alert.alert.alert_id, step) for alert in batch for step in alert.steps),
    )


def plan_json(new: NewDelivery) -> bytes:
    """Return the plan as statements take it: beside it what the delivery waits for, if anything."""
    if (waits := new.suppression) is None:
        return b'{"plan":%b}' % new.plan
    told = {
        "until": waits.until,
        "by": waits.by,
        "why": waits.why,
        "group_key": waits.group_key,
        "group_limit": waits.group_limit,
    }
    return b'{"plan":%b,%b' % (new.plan, orjson.dumps(told)[1:])


def json_array(records: Iterable[bytes]) -> str:
    """Return records of JSON as one JSON array."""
    return f"[{b','.join(records).decode()}]"
