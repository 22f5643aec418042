"""How one delivery stands, as a sentence that needs no knowledge of states."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from services.contracts import topics
from services.contracts.states import State


@dataclass(frozen=True, slots=True)
class Stop:
    """Who has stopped a channel, why, and since when."""

    channel: str
    person: str
    why: str
    at_ms: int


@dataclass(frozen=True, slots=True)
class Alone:
    """Why and since when a deliverer leaves a destination alone, and when it tries one send."""

    channel: str
    why: str
    at_ms: int
    probe_at_ms: int


@dataclass(frozen=True, slots=True)
class Told:
    """What a sentence needs of a delivery; times in milliseconds since 1970 (UTC)."""

    state: str
    attempt: int
    marked_repeat: bool
    reason: str
    updated_at_ms: int
    next_attempt_at_ms: int = 0
    in_digest: bool = False
    stop: Stop | None = None
    """Why nobody claims what is due on its channel."""
    alone: Alone | None = None
    """Why a deliverer sends nothing there for now: its breaker is open."""


def sentence(told: Told, carrier: Told | None = None) -> str:
    """Return how a delivery stands; `carrier` is the other delivery that told its alert."""
    if carrier is not None:
        return f"part of a digest: {sentence(carrier)}"
    words = _SENTENCES[State(told.state)](told)
    return f"{words}; it may be a repeat, and says so" if _repeats(told) else words


def absent(alert_id: str, aside_at_ms: int | None) -> str:
    """Return where an alert is that the ledger does not have, as far as that is known."""
    if aside_at_ms is None:
        return f"the ledger has no alert {alert_id}"
    kept = topics.rejected(topics.ALERTS)
    noted = f"as was noted at {at(aside_at_ms)}"
    return f"alert {alert_id} was set aside, {noted}: topic {kept} has it, with the reason"


def at(at_ms: int) -> str:
    """Return a time to the second, in UTC."""
    return f"{datetime.fromtimestamp(at_ms / 1000, UTC):%Y-%m-%d %H:%M:%S}Z"


def _repeats(told: Told) -> bool:
    return told.marked_repeat and told.state in (State.SENT, State.CONFIRMED)


def _sent(told: Told) -> str:
    tries = f", at try {told.attempt}" if told.attempt > 1 else ""
    return f"sent once at {at(told.updated_at_ms)}{tries}{_digest(told)}"


def _confirmed(told: Told) -> str:
    return f"sent once{_digest(told)}, confirmed at {at(told.updated_at_ms)}"


def _digest(told: Told) -> str:
    return " as a digest with others" if told.in_digest else ""


def _because(told: Told) -> str:
    return f": {told.reason}" if told.reason else ""


def _retry(told: Told) -> str:
    tried = f"not sent yet: tried {told.attempt} times"
    last = f", last {told.reason}" if told.reason else ""
    return f"{tried}{last}; next try at {at(told.next_attempt_at_ms)}{_stopped(told)}"


def _pending(told: Told) -> str:
    return f"not sent yet: waits to be sent since {at(told.updated_at_ms)}{_stopped(told)}"


def _stopped(told: Told) -> str:
    if told.stop is None:
        return _left_alone(told)
    since = f"since {at(told.stop.at_ms)}"
    return f"; {told.stop.person} has stopped channel {told.stop.channel} {since}: {told.stop.why}"


def _left_alone(told: Told) -> str:
    if (alone := told.alone) is None:
        return ""
    why = f": {alone.why}" if alone.why else ""
    return (
        f"; {alone.channel} leaves it alone since {at(alone.at_ms)}, "
        f"next probe at {at(alone.probe_at_ms)}{why}"
    )


def _closed(told: Told) -> str:
    """A try before the closing may have reached the recipient."""
    closed = f"closed at {at(told.updated_at_ms)}{_because(told)}"
    return f"{closed}; tried {told.attempt} times before" if told.attempt else f"not sent, {closed}"


_SENTENCES: Final[dict[State, Callable[[Told], str]]] = {
    State.PENDING: _pending,
    State.CLAIMED: lambda told: f"being sent since {at(told.updated_at_ms)}, try {told.attempt}",
    State.SENT: _sent,
    State.CONFIRMED: _confirmed,
    State.RETRY_WAIT: _retry,
    State.FAILED: lambda told: (
        f"not delivered, refused at {at(told.updated_at_ms)}{_because(told)}"
    ),
    State.IN_DOUBT: lambda told: f"in doubt since {at(told.updated_at_ms)}{_because(told)}",
    State.HELD: lambda told: f"held for a person since {at(told.updated_at_ms)}{_because(told)}",
    State.SUPPRESSED: lambda told: (
        f"not sent: {told.reason or 'it waits'}, until {at(told.next_attempt_at_ms)}"
    ),
    State.CLOSED: _closed,
}
