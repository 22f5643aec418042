"""Exact counts of one cell: what had to alert, and what came to each recipient."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import product
from typing import Any, Final, Protocol

import httpx2
import psycopg

from services.deliverer.settings import DelivererSettings
from services.machine.problems import MachineProblem
from tests.acceptance.system import CHANNELS

Received = Mapping[str, Counter[str]]
"""How often each delivery came in, by channel."""
Message = tuple[str, str]
"""A channel, and the id of a delivery that came by it."""


class Ledger(Protocol):
    """What answers questions in SQL."""

    def ask(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Return the rows."""


class FarEnds(Protocol):
    """A system, and what came out of it."""

    @property
    def system(self) -> Ledger:
        """Whose ledger is asked."""

    def received(self) -> Received:
        """Return how often each delivery came in, by channel."""


RESTING = frozenset({"SENT", "CONFIRMED", "HELD"})
SENDS_AT_ONCE: Final[int] = DelivererSettings.model_fields["concurrency"].default
"""What one deliverer can have under way, and leave in doubt, when a fault comes."""


@dataclass(frozen=True)
class Counts:
    """What came of the findings; all but the first four and `held` must be 0.

    `missing` are alerts, deliveries, and messages of deliveries that count as sent; `not_expected`
    are alerts, deliveries beyond one of an alert on a channel, and messages without a delivery.
    `repeats_same_key` are records of the bus that its readers know by their key; `held` waits for a
    person, as nobody can tell whether it arrived: at most `held_limit`. `problem` says what was
    waited for in vain before the count.
    """

    expected: int
    alerted: int
    arrived: int
    repeats_marked: int
    repeats_same_key: int
    held: int
    missing: int
    not_expected: int
    repeats_unmarked: int
    held_limit: int = 0
    problem: str = ""

    @property
    def right(self) -> bool:
        """Whether nothing is missing, nothing too much, nothing repeated without a mark, no more
        held than the fault can have left in doubt, and all came to rest."""
        if self.problem:
            return False
        wrong = self.missing + self.not_expected + self.repeats_unmarked
        return self.expected == self.alerted > 0 and wrong == 0 and self.held <= self.held_limit


def in_vain(wait: Callable[[], None]) -> str:
    """Wait; return what did not come, or nothing: what there is can be counted all the same."""
    try:
        wait()
    except MachineProblem as problem:
        return str(problem)
    return ""


def in_one_line(planned: int, wrong: int, accepted: int, counts: Sequence[Counts]) -> str:
    """Return what many cells came to, of which `counts` are what those came to that ended."""
    good = sum(each.right for each in counts)
    uncounted = wrong - (len(counts) - good)
    bad = f", {wrong} wrong" if wrong else ""
    apart = f", of which {uncounted} ended before anything was counted" if uncounted else ""
    return (
        f"**{good} of {planned} cells came out right{bad}**{apart}: "
        f"{accepted:,} events accepted, "
        f"{sum(each.alerted for each in counts):,} of "
        f"{sum(each.expected for each in counts):,} alerts, "
        f"{sum(each.missing for each in counts):,} missing, "
        f"{sum(each.repeats_unmarked for each in counts):,} repeated without a mark."
    )


@dataclass(frozen=True)
class Row:
    """One delivery as the ledger has it."""

    delivery_id: str
    alert_id: str
    channel: str
    state: str
    marked_repeat: bool


def rows(system: Ledger, runs: list[str]) -> list[Row]:
    """Return all deliveries about keys of these runs."""
    found = system.ask(
        "SELECT delivery_id, alert_id, channel, state, marked_repeat"
        " FROM deliveries JOIN alerts USING (alert_id)"
        " WHERE watch = 'over-purchase' AND alerts.record->>'key' LIKE ANY(%s)",
        runs,
    )
    return [Row(*each) for each in found]


def settled(stage: FarEnds, runs: list[str], expected: Set[str]) -> bool:
    """Tell whether each finding has its deliveries and none of them is on its way."""
    try:
        found = rows(stage.system, runs)
    except (httpx2.HTTPError, psycopg.OperationalError):
        return False
    return not lacking(found, expected) and all(row.state in RESTING for row in found)


def lacking(found: Sequence[Row], alerts: Set[str]) -> int:
    """Return how many deliveries these alerts do not have, of one on each channel."""
    there = {(row.alert_id, row.channel) for row in found}
    return len(set(product(alerts, CHANNELS)) - there)


def beyond(found: Sequence[Row], alerts: Set[str]) -> int:
    """Return how many deliveries these alerts have beyond one on each channel."""
    places = [(row.alert_id, row.channel) for row in found if row.alert_id in alerts]
    return len(places) - len(set(places) & set(product(alerts, CHANNELS)))


def messages(received: Received) -> frozenset[Message]:
    """Return what came in, each message once."""
    return frozenset((channel, each) for channel, ids in received.items() for each in ids)


def unknown(system: Ledger, came: Set[Message]) -> int:
    """Return how many messages are of no delivery that the ledger has."""
    known = system.ask(
        "SELECT channel, delivery_id FROM deliveries WHERE delivery_id = ANY(%s)",
        [each for _, each in came],
    )
    return len(came - {(channel, each) for channel, each in known})


def repeats_silent(times: int, marked_repeat: bool) -> int:
    """Return how often a message came again beyond the one repeat that its mark allows.

    The mark is the ledger's; tests/matrix reads it in the messages themselves.
    """
    return max(0, times - 1 - int(marked_repeat))


def again(times: Mapping[Row, int]) -> tuple[int, int, int]:
    """Return how often messages came again: with the mark, under the same key, with neither."""
    repeats = {row: count - 1 for row, count in times.items() if count > 1}
    bus = sum(more for row, more in repeats.items() if row.channel == "bus")
    silent = sum(
        repeats_silent(times[row], row.marked_repeat) for row in repeats if row.channel != "bus"
    )
    return sum(repeats.values()) - bus - silent, bus, silent


def count(
    stage: FarEnds,
    runs: list[str],
    expected: Set[str],
    before: Set[Message],
    possible: Set[str] = frozenset(),
    held_limit: int = 0,
) -> Counts:
    """Hold the ledger against what really arrived, beside what was there `before`.

    `possible` alerts are right, come or not: their events were sent, and nobody answered.
    """
    found = rows(stage.system, runs)
    received = stage.received()
    strange = unknown(stage.system, messages(received) - before)
    counted = [row for row in found if row.channel in received]
    times = {row: received[row.channel][row.delivery_id] for row in counted}
    sent = {row: count for row, count in times.items() if row.state != "HELD"}
    marked, same_key, silent = again(times)
    alerts = {row.alert_id for row in found}
    right = alerts & (expected | possible)
    lost = sum(1 for count in sent.values() if not count)
    return Counts(
        expected=len(expected),
        alerted=len(alerts & expected),
        arrived=sum(1 for count in times.values() if count),
        repeats_marked=marked,
        repeats_same_key=same_key,
        held=len(times) - len(sent),
        missing=lost + lacking(found, right) + len(expected - alerts),
        not_expected=len(alerts - right) + beyond(found, right) + strange,
        repeats_unmarked=silent,
        held_limit=held_limit,
    )
