"""Escalations, fallbacks and acknowledging, in memory; see services/backbone/ledger."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from services.backbone.ledger.alerts import escalations, fallbacks
from services.backbone.ledger.alerts.decisions import Decision
from services.backbone.ledger.alerts.escalations import STANDS_FOR_OTHERS, Due, Taken
from services.backbone.ledger.alerts.fallbacks import Followed, Lost, Next, Rest
from services.backbone.ledger.alerts.intake import NewDelivery
from services.backbone.ledger.alerts.later import Earlier
from services.backbone.ledger.alerts.told import Known, Told
from services.backbone.ledger.operators.acknowledgements import (
    Acknowledged,
    Acknowledgement,
    NoSuchAlert,
    Via,
    told_why,
)
from services.contracts.states import State
from tests.simulation.memory.suppressions import moment
from tests.simulation.memory.tables import Row, Tables


@dataclass(frozen=True)
class MemoryEscalations:
    """The statement of Escalations: one transaction."""

    tables: Tables

    def take(self, limit: int, decide: escalations.Decide) -> Taken:
        """Take due steps."""
        tables, now = self.tables, self.tables.now()
        waiting = [key for key, row in tables.steps.items() if row.state == "WAITING"]
        due = [key for key in waiting if tables.steps[key].due_at <= now]
        due.sort(key=lambda key: tables.steps[key].due_at)
        alert_ids = {key[0] for key in due[:limit]}
        keys = [key for key in due if key[0] in alert_ids]
        keys.sort(key=lambda key: (key[0], tables.steps[key].due_at, key[1], key[2]))
        earlier = self._earlier(alert_ids)
        turns = escalations.decided_first([self._due(key) for key in keys], earlier, decide)
        made = [each for turn in turns for each in turn.deliveries]
        new = [each for each in made if tables.insert(each)]
        for key, turn in zip(keys[: len(turns)], turns, strict=True):
            tables.decisions += turn.decisions
            row = tables.steps[key]
            row.state, row.repetition = turn.state, row.repetition + (not turn.ended)
            row.due_at = row.due_at if turn.again_seconds is None else now + turn.again_seconds
        return Taken(len(turns), new)

    def _earlier(self, alert_ids: set[str]) -> Earlier:
        found = Earlier()
        for row in self.tables.rows.values():
            if row.alert_id in alert_ids:
                to = (row.alert_id, row.channel, row.recipient)
                found.last[to] = max(found.last.get(to, -1), row.repetition)
                if _may_stand_for_others(row, self.tables.now()):
                    found.waiting.setdefault(to, []).append(row.plan)
        return found

    def _due(self, key: tuple[str, str, int]) -> Due:
        row, tables = self.tables.steps[key], self.tables
        return Due(
            *key,
            repetition=row.repetition,
            plan=row.plan,
            due_at=moment(row.due_at),
            record=tables.alerts[key[0]].encoded.decode(),
            accepted_at=moment(tables.accepted_at[key[0]]),
            acknowledged=key[0] in tables.acknowledgements,
            now=moment(tables.now()),
        )


def _may_stand_for_others(row: Row, now: float) -> bool:
    untried = row.state is State.SUPPRESSED and row.attempt == 0
    is_young = row.created_at > now - STANDS_FOR_OTHERS.total_seconds()
    return untried and is_young and row.group_key is None


def _waits_by(row: Row, carrier: Row) -> dict[str, Any]:
    if row.digest_id is None:
        return row.plan
    kept = {name: each for name, each in carrier.plan.items() if name != "grouping"}
    return kept | {"quiet": row.plan.get("quiet")}


@dataclass(frozen=True)
class MemoryFallbacks:
    """The statement of Fallbacks: one transaction."""

    tables: Tables

    def take(self, limit: int, decide: fallbacks.Decide) -> Followed:
        """Decide about failures that nothing has followed yet."""
        rows = sorted(self._lost(), key=lambda row: row.updated_at)[:limit]
        lost = [self._seen(row) for row in rows]
        told = self._told({alert_id for each in lost for alert_id in each.alert_ids})
        follows = [self._next(each, told, decide) for each in lost]
        kept = self._keep(rows, follows)
        return Followed(len(rows), sum(each.exhausted for each in follows), kept)

    def _lost(self) -> Iterable[Row]:
        for row in self.tables.rows.values():
            held = row.state is State.HELD and row.plan.get("fallback_on") == "held"
            lost = row.state is State.FAILED or (held and row.attempt > 0)
            if lost and row.fallback_at is None and row.plan.get("fallback"):
                yield row

    def _seen(self, row: Row) -> Lost:
        tables, members = self.tables, self.tables.members(row)
        about = [each.alert_id for each in members] or [row.alert_id]
        tried = [moment(each.claimed_at) for each in tables.tries(row.delivery_id).values()]
        return Lost(
            delivery_id=row.delivery_id,
            alert_id=row.alert_id,
            channel=row.channel,
            recipient=row.recipient,
            repetition=row.repetition,
            state=row.state,
            reason=row.reason,
            plan=row.plan,
            record=row.record,
            members=[tables.head(each.alert_id) for each in members],
            acknowledged=all(each in tables.acknowledgements for each in about),
            tried_at=max(tried, default=None),
            now=moment(tables.now()),
        )

    def _told(self, alert_ids: set[str]) -> Told:
        rows, told = self.tables.rows, Told()
        for row in rows.values():
            if row.alert_id in alert_ids:
                told.count(self._known(row, rows[row.digest_id or row.delivery_id]))
        return told

    def _known(self, row: Row, carrier: Row) -> Known:
        waits = _may_stand_for_others(carrier, self.tables.now())
        return Known(
            row.delivery_id,
            row.alert_id,
            carrier.channel,
            carrier.recipient,
            moment(carrier.created_at),
            self.tables.closed.get(carrier.delivery_id, carrier.state),
            carrier.attempt,
            grouped=carrier.group_key is not None,
            waits=_waits_by(row, carrier) if waits else None,
        )

    def _next(self, lost: Lost, told: Told, decide: fallbacks.Decide) -> Next:
        follows = decide(lost, told)
        if follows.delivery is not None:
            told.add(follows.delivery, lost.alert_ids, lost.now)
        return follows

    def _keep(self, rows: list[Row], follows: list[Next]) -> list[NewDelivery]:
        tables, kept = self.tables, []
        for row, after in zip(rows, follows, strict=True):
            members = tables.members(row)
            row.fallback_at = tables.now()
            tables.decisions.append(after.decision)
            if after.rest is not None:
                self._take_along(after.rest)
            if after.delivery is None:
                continue
            named = after.delivery.delivery.delivery_id
            if tables.insert(after.delivery):
                kept.append(after.delivery)
            for each in members:
                each.digest_id = row.delivery_id if each is row else named
                tables.rows[named].digest_id = named
        return kept

    def _take_along(self, rest: Rest) -> None:
        row = self.tables.rows[rest.delivery_id]
        alone = row.digest_id is None and row.state is not State.SUPPRESSED
        if alone and not row.plan.get("fallback"):
            row.plan = {**row.plan, **rest.plan}


@dataclass(frozen=True)
class MemoryAcknowledgements:
    """The statement of Acknowledgements: one transaction."""

    tables: Tables

    def acknowledge(
        self, alert_id: str, *, person: str, via: Via, note_text: str = ""
    ) -> Acknowledged:
        """Note that a person has the alert in hand, and end its escalation."""
        tables = self.tables
        if alert_id not in tables.alerts:
            raise NoSuchAlert(f"the ledger has no alert {alert_id[:64]}")
        said = tables.acknowledgements.setdefault(alert_id, [])
        new = all(each.person != person for each in said)
        if new:
            said.append(Acknowledgement(person, via, note_text, moment(tables.now())))
        ended = self._end(alert_id)
        why = told_why(person, via, note_text, ended if new else ())
        noted = not new and not self._is_said(alert_id, person, note_text, why)
        if new or noted:
            decided = "acknowledged" if new else "noted"
            tables.decisions.append(Decision(alert_id, None, "acknowledge", decided, why))
        ordered = sorted(said, key=lambda each: (each.at, each.person))
        return Acknowledged(new, tuple(ordered), noted)

    def _is_said(self, alert_id: str, person: str, note_text: str, why: str) -> bool:
        first = self.tables.acknowledgements[alert_id]
        told = [each.why for each in self.tables.decisions if each.alert_id == alert_id]
        is_first = any((each.person, each.note) == (person, note_text) for each in first)
        return not note_text.strip() or is_first or why in told

    def _end(self, alert_id: str) -> list[str]:
        ended = []
        for (of, name, step), row in sorted(self.tables.steps.items()):
            if of == alert_id and row.state == "WAITING":
                row.state = "ENDED"
                ended.append(f"{name} step {step + 1}")
        return ended
