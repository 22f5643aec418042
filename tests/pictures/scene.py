"""A ledger that looks like a working day: alerts of several watches, deliveries in all states."""

import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import psycopg
from psycopg.types.json import Jsonb

from services.contracts.ids import alert_id, delivery_id
from services.contracts.states import State

FUNDS: Final = ("Baker Fund", "Lindqvist & Co", "Meridian", "Osaka Growth", "Tern Capital")
STOCKS: Final = ("ACME", "NVDX", "ORCA", "TSLR", "VIVO")
ALERTS: Final = 60
TROUBLED: Final = (2, 9, 23)
"""Alerts of which one message is in doubt or held."""
RECIPIENTS: Final = {
    "email": "desk@example.com",
    "sms": "+4915112345678",
    "webhook": "https://desk.example.com/hook",
    "pagerduty": "night",
}
_ALERT: Final = """
INSERT INTO alerts (alert_id, watch, severity, summary, record, routed_by, appended_at,
  detected_at, accepted_at, decision) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"""
_DELIVERY: Final = """
INSERT INTO deliveries (delivery_id, alert_id, channel, recipient, record, plan, state, attempt,
  created_at, updated_at, next_attempt_at, reason, provider_id)
VALUES (%s, %s, %s, %s, '{}', %s, %s, %s, %s, %s, %s, %s, %s)"""
_ATTEMPT: Final = """
INSERT INTO attempts (delivery_id, attempt, fence, owner, claimed_at, finished_at, outcome, reason,
  provider_id) VALUES (%s, 1, 1, %s, %s, %s, %s, %s, %s)"""


@dataclass(frozen=True)
class Fate:
    """How a delivery came out."""

    state: State
    reason: str = ""
    provider_id: str = ""


DOUBT: Final = Fate(State.IN_DOUBT, "no answer: the line was dropped after the message was sent")
HELD: Final = Fate(State.HELD, "in doubt for 120 s, and nobody could tell")
FAILED: Final = Fate(State.FAILED, "550 5.1.1 no such user")
QUIET: Final = Fate(State.SUPPRESSED, "silenced by ann: the hall is rebuilt")


def fill(url: str, seed: int = 7) -> dict[str, str]:
    """Fill a ledger; return the ids of an alert and of a delivery that are worth a picture."""
    rng, now = random.Random(seed), datetime.now(UTC)
    with psycopg.connect(url) as connection:
        for number in range(ALERTS):
            age = timedelta(seconds=4 + 40 * number + rng.random() * 20)
            shown = _add(connection, rng, number, now - age)
            if number == 2:
                picture = shown
    return picture


def _add(connection: Any, rng: random.Random, number: int, at: datetime) -> dict[str, str]:
    fund, stock = rng.choice(FUNDS), rng.choice(STOCKS)
    wanted = rng.randrange(1, 40) * 100
    bought, book = wanted + rng.randrange(1, 9) * 10, f"R-{40_000 + number}"
    made = alert_id("over-purchase", [book])
    record = {
        "key": {"order_id": book},
        "labels": {"client": fund, "stock": stock},
        "values": {"requested": wanted, "purchased": bought, "over": bought - wanted},
        "event_ids": [book, *(f"P-{number}{piece}" for piece in range(1, 4))],
        "auditor": rng.choice("ab"),
    }
    severity = "critical" if bought - wanted > 40 or number in TROUBLED else "warning"
    found, taken = _after(at, rng.uniform(2, 9)), _after(at, rng.uniform(12, 18))
    summary = f"Order {book} of {fund}: {bought} shares of {stock} purchased, {wanted} requested"
    decision = {
        "routes_version": "e264dcba5732f1d8",
        "considered": [
            ["over-purchase", True, "all its conditions hold", 0],
            ["night-desk", False, "its times are over", 1],
            ["desk", True, "all its conditions hold", 1],
        ],
    }
    connection.execute(
        _ALERT,
        (made, "over-purchase", severity, summary, Jsonb(record), "desk", at, found, taken,
         Jsonb(decision)),
    )  # fmt: skip
    channels = list(RECIPIENTS) if severity == "critical" else ["email", "webhook"]
    ids = [_deliver(connection, rng, made, each, taken, number) for each in channels]
    return {"alert": made, "delivery": ids[-1]}


def _deliver(
    connection: Any, rng: random.Random, alert: str, channel: str, at: datetime, number: int
) -> str:
    recipient, fate = RECIPIENTS[channel], _fate(rng, channel, number)
    made = delivery_id(alert, channel, recipient)
    claimed, ended = _after(at, rng.uniform(2, 6)), _after(at, rng.uniform(30, 240))
    tried = 0 if fate.state is State.SUPPRESSED else 1
    until = at + timedelta(hours=3)
    connection.execute(
        _DELIVERY,
        (made, alert, channel, recipient, Jsonb({"route": "desk"}), fate.state, tried, at, ended,
         until, fate.reason, fate.provider_id),
    )  # fmt: skip
    if tried:
        outcome = "IN_DOUBT" if fate.state is State.HELD else fate.state
        connection.execute(
            _ATTEMPT,
            (made, f"{channel}-0-7", claimed, ended, outcome, fate.reason, fate.provider_id),
        )
    return made


def _fate(rng: random.Random, channel: str, number: int) -> Fate:
    """Return how it came out: mostly well."""
    if channel == "sms":
        return Fate(State.CONFIRMED, provider_id=f"SM{rng.randrange(16**12):012x}")
    if channel == "pagerduty" and number in TROUBLED:
        return DOUBT if number == 2 else HELD
    if channel == "email" and number == 14:
        return FAILED
    if channel == "webhook" and number in (31, 32):
        return QUIET
    return Fate(State.SENT, provider_id="250 kept" if channel == "email" else "")


def _after(at: datetime, milliseconds: float) -> datetime:
    return at + timedelta(milliseconds=milliseconds)
