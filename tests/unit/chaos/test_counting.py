"""Each alert is told once on each channel; a mark allows one repeat of its message, and a fault
only so many held ones as it can cause."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from tests.acceptance.system import CHANNELS
from tests.chaos.cells import Cell, Fault
from tests.chaos.counting import SENDS_AT_ONCE, Counts, count, messages, settled
from tests.cluster.cells import Cell as ClusterCell
from tests.cluster.cells import Deed

ALERT = "a"
RUNS = ["%run-%"]


@dataclass
class Ends:
    """A ledger with deliveries of alerts, and what came of them."""

    rows: list[tuple[Any, ...]] = field(default_factory=list)
    times: dict[str, Counter[str]] = field(default_factory=dict)

    @property
    def system(self) -> "Ends":
        return self

    def add(
        self,
        channel: str,
        times: int = 1,
        *,
        marked: bool = False,
        state: str = "SENT",
        alert: str = ALERT,
    ) -> None:
        delivery = f"d{len(self.rows)}"
        self.rows.append((delivery, alert, channel, state, marked))
        self.times.setdefault(channel, Counter())[delivery] = times

    def fill(self) -> "Ends":
        """Add what the alert lacks to be told everywhere."""
        for channel in set(CHANNELS) - {row[2] for row in self.rows}:
            self.add(channel)
        return self

    def ask(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        if "JOIN alerts" in sql:
            return self.rows
        return [(channel, delivery) for delivery, _, channel, *_ in self.rows]

    def received(self) -> Mapping[str, Counter[str]]:
        return {name: self.times.get(name, Counter()) for name in CHANNELS}


def counted(ends: Ends, held_limit: int = 0) -> Counts:
    return count(ends, RUNS, {ALERT}, frozenset(), held_limit=held_limit)


@pytest.mark.parametrize(
    ("times", "marked", "with_mark", "silent"),
    [(1, False, 0, 0), (1, True, 0, 0), (2, False, 0, 1), (2, True, 1, 0), (3, True, 1, 1)],
)
def test_a_mark_allows_one_repeat_and_no_silent_one_beside_it(
    times: int, marked: bool, with_mark: int, silent: int
) -> None:
    ends = Ends()
    ends.add("webhook", times, marked=marked)
    counts = counted(ends.fill())
    assert (counts.repeats_marked, counts.repeats_unmarked) == (with_mark, silent)
    assert counts.right == (not silent)


def test_records_of_the_bus_are_known_by_their_key_however_many_there_are() -> None:
    ends = Ends()
    ends.add("bus", 4)
    counts = counted(ends.fill())
    assert (counts.repeats_same_key, counts.repeats_unmarked, counts.right) == (3, 0, True)


def test_what_is_held_is_right_only_as_far_as_the_fault_leaves_doubt() -> None:
    ends = Ends()
    ends.add("email", 1, state="HELD")
    assert not counted(ends.fill()).right
    assert counted(ends, held_limit=1).right
    ends = Ends()
    ends.add("email", 1, state="HELD")
    ends.add("webhook", 0, state="HELD")
    ends.fill()
    assert not counted(ends, held_limit=1).right
    assert replace(counted(ends), held=0).right


@pytest.mark.parametrize("channel", [*CHANNELS, "sms"])
def test_a_message_more_than_one_of_an_alert_on_a_channel_is_not_expected(channel: str) -> None:
    ends = Ends().fill()
    assert counted(ends).right
    ends.add(channel)
    counts = counted(ends)
    assert (counts.not_expected, counts.missing, counts.right) == (1, 0, False)


def test_one_channel_twice_does_not_stand_for_another() -> None:
    ends = Ends()
    for channel in ("bus", "bus", "email"):
        ends.add(channel)
    assert not settled(ends, RUNS, {ALERT})
    counts = counted(ends)
    assert (counts.not_expected, counts.missing, counts.right) == (1, 1, False)
    assert settled(ends.fill(), RUNS, {ALERT})


def test_an_alert_that_may_come_is_told_everywhere_too() -> None:
    ends = Ends().fill()
    ends.add("bus", alert="b")
    counts = count(ends, RUNS, {ALERT}, frozenset(), frozenset({"b"}))
    assert (counts.not_expected, counts.missing, counts.right) == (0, 2, False)


def test_a_message_of_no_delivery_is_not_expected_unless_it_was_there_before() -> None:
    ends = Ends().fill()
    ends.times["webhook"]["from elsewhere"] = 1
    counts = counted(ends)
    assert (counts.not_expected, counts.right) == (1, False)
    assert count(ends, RUNS, {ALERT}, messages(ends.received())).right


@pytest.mark.parametrize(
    ("hit", "doubting"),
    [
        ((), 0),
        (("lookout",), 0),
        (("leader", "follower"), 0),
        (("gateway", "deliverer-webhook"), 1),
        (("postgres", "lookout"), 4),
    ],
)
def test_only_a_deliverer_that_is_hit_or_its_ledger_leaves_doubt(
    hit: tuple[str, ...], doubting: int
) -> None:
    assert Cell(Fault.KILL, hit).doubting == doubting


def test_in_a_cluster_only_deeds_to_deliverers_and_stores_leave_doubt() -> None:
    sure = (ClusterCell(Deed.NONE), ClusterCell(Deed.KILL, "lookout"))
    unsure = (ClusterCell(Deed.KILL, "deliverer-email"), ClusterCell(Deed.UPGRADE, "of both"))
    assert [each.doubting for each in (*sure, *unsure)] == [0, 0, 4, 4]


def test_a_deliverer_has_as_many_under_way_as_its_setting_says() -> None:
    assert SENDS_AT_ONCE == 32
