"""What keepers promise, checked at every release, send and telling, by a plain model."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final

import orjson

from services.backbone.ledger.alerts.intake import NewDelivery
from services.backbone.ledger.alerts.suppressions import Moved
from services.backbone.ledger.operators.silences import SilenceRow
from services.contracts.records import Alert, Delivery
from services.contracts.states import State
from services.deliverer.channel import Message
from services.lookout.decisions.plans import read_plan
from services.lookout.decisions.silencing import read_match
from services.lookout.routing import Routes, Target
from services.lookout.standing import Silence
from tests.simulation.kernel import Kernel, Violation
from tests.simulation.memory.suppressions import moment
from tests.simulation.memory.tables import Row, Tables
from tests.unit.lookout.judging_model import World as Model

KNOWN_AFTER_SECONDS: Final = 5.0
"""A healthy keeper has held back by then what a new silence is for, and what waits anew."""
NIGHT: Final = "https://night.example"
"""Told by escalations alone."""


@lru_cache(maxsize=4096)
def read_in(text: str) -> tuple[str, ...]:
    """Return the ids of the alerts that a digest's lines name."""
    return tuple(re.findall(r"\(([0-9a-f]{32})\)$", text, re.MULTILINE))


@dataclass
class KeeperJudge:
    """Holds what keepers do against what people have said and the routes say."""

    kernel: Kernel
    tables: Tables
    routes: Routes
    untroubled: bool
    """Whether nothing goes wrong with lookouts, stores or clocks in this history."""
    said_at: dict[str, float] = field(default_factory=dict)
    """When each silence was created, in seconds of the history."""
    waited_since: dict[str, float] = field(default_factory=dict)
    """Since when each row that is claimed had waited for its claim, on the ledger's clock."""
    tellings: Counter[tuple[str, str]] = field(default_factory=Counter)

    def released(self, moved: Sequence[Moved], known_at: float) -> None:
        """Look at rows that a keeper has just moved, knowing what was said until a time."""
        for each in moved:
            if each.after is State.PENDING:
                self._released(self.tables.rows[each.delivery_id], known_at)
            elif each.after is State.CLOSED:
                self._closed(self.tables.rows[each.delivery_id])

    def inserting(self, new: NewDelivery) -> None:
        """Look at a delivery that is about to be recorded."""
        made = new.delivery
        if made.recipient == NIGHT and made.alert.alert_id in self.tables.acknowledgements:
            raise Violation(f"K2: {_short(made)} escalates what somebody has acknowledged")
        if self.untroubled and new.suppression is None and not read_in(made.text):
            self._goes_at_once(new)

    def claiming(self, row: Row) -> None:
        """Look at a row that is about to be claimed."""
        self.waited_since[row.delivery_id] = row.updated_at

    def writing(self, delivery: Delivery) -> None:
        """Look at a send whose first byte leaves now: had a healthy keeper to hold it back?"""
        if not self.untroubled:
            return
        row = self.tables.rows[delivery.delivery_id]
        tried = self.tables.attempts[row.delivery_id, row.attempt]
        model = self._model_before(KNOWN_AFTER_SECONDS)
        before = tried.claimed_at - KNOWN_AFTER_SECONDS
        if self.waited_since[row.delivery_id] > before:
            return
        if all(self._all_held(row, model, at) for at in (before, tried.claimed_at)):
            raise Violation(f"K1: {_short(delivery)} is sent although it is silenced")

    def taken(self, message: Message) -> None:
        """Look at what a person gets to read."""
        delivery = message.delivery
        if message.marked_repeat or delivery.repetition:
            return
        for alert_id in read_in(delivery.text) or (delivery.alert.alert_id,):
            self.tellings[delivery.recipient, alert_id] += 1
            if self.tellings[delivery.recipient, alert_id] > 1:
                raise Violation(f"K3: {delivery.recipient} is told twice of {alert_id[:6]}")

    def unsettled(self) -> list[str]:
        """Return what still waits for a keeper."""
        steps = self.tables.steps.items()
        left = [
            f"{key[1]} step {key[2] + 1} of {key[0][:6]} waits"
            for key, row in steps
            if row.state == "WAITING"
        ]
        return left + [
            f"nothing has followed {row.delivery_id[:6]}"
            for row in self.tables.rows.values()
            if row.state is State.FAILED and row.plan.get("fallback") and row.fallback_at is None
        ]

    def _released(self, row: Row, known_at: float) -> None:
        about = self.tables.members(row) or [row]
        if all(each.alert_id in self.tables.acknowledgements for each in about):
            raise Violation(f"K2: {row.delivery_id[:6]} goes although all is acknowledged")
        if self._all_held(row, self._model(known_at), self.tables.now()):
            raise Violation(f"K1: {row.delivery_id[:6]} goes although it is silenced")
        missing = {each.alert_id for each in self.tables.members(row)}
        if missing - set(read_in(Delivery.decode(row.record.encode()).text)):
            raise Violation(f"K3: digest {row.delivery_id[:6]} leaves out some of its alerts")

    def _goes_at_once(self, new: NewDelivery) -> None:
        made, now = new.delivery, self.tables.now()
        told = read_plan(orjson.loads(new.plan), Target(made.channel, made.recipient), self.routes)
        plain, model = replace(told, grouping=None), self._model_before(KNOWN_AFTER_SECONDS)
        times = (moment(now - KNOWN_AFTER_SECONDS), moment(now))
        if all(model.held(plain, made.alert, at) is not None for at in times):
            raise Violation(f"K1: {_short(made)} goes at once although it is silenced")

    def _closed(self, row: Row) -> None:
        carrier = self.tables.rows.get(row.digest_id or "")
        if carrier is not None and carrier is not row:
            return
        about = self.tables.members(row) or [row]
        if not all(each.alert_id in self.tables.acknowledgements for each in about):
            raise Violation(f"K4: {row.delivery_id[:6]} is closed, and nobody was told")

    def _all_held(self, row: Row, model: Model, at: float) -> bool:
        return all(self._held(each, model, at) for each in self.tables.members(row) or [row])

    def _held(self, row: Row, model: Model, at: float) -> bool:
        told = read_plan(row.plan, Target(row.channel, row.recipient), self.routes)
        alert: Alert = self.tables.alerts[row.alert_id].alert
        return model.held(replace(told, grouping=None), alert, moment(at)) is not None

    def _model_before(self, seconds: float) -> Model:
        return self._model(self.kernel.now - seconds)

    def _model(self, known_at: float) -> Model:
        """Return the rules as known at a time of the history; inhibitions are left out."""
        rows = (
            row
            for row in self.tables.silences.values()
            if row.ended_at is None and self.said_at[row.silence_id] < known_at
        )
        return Model(list(_read(rows)), list(self.routes.silences), [], [])


def _read(rows: Iterable[SilenceRow]) -> Iterable[Silence]:
    for row in rows:
        told = (row.starts_at, row.ends_at, row.author, row.reason)
        yield Silence(row.silence_id, read_match(row.match, {}), *told)


def _short(delivery: Delivery) -> str:
    return delivery.delivery_id[:6]
