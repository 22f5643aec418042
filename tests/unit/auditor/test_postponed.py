"""How long a change waits that could not be tried."""

import random

from auditor.changes.postponed import BACKOFF, Postponed


def test_each_change_waits_by_itself_and_longer_each_time() -> None:
    postponed = Postponed(random.Random(1))
    waits = [postponed.add("a", "brokers away", 0) for _ in range(20)]
    for wait, whole in zip(waits, (5, 10, 20, 40, 80, 120, 120), strict=False):
        assert whole / 2 <= wait <= whole
    assert max(waits) <= BACKOFF.limit_seconds
    assert postponed.waits("a", waits[-1] - 0.1)
    assert not postponed.waits("a", waits[-1])
    assert not postponed.waits("b", 0)
    assert postponed.notes() == ["the change of watch a waits: brokers away"]


def test_a_change_that_was_tried_begins_anew() -> None:
    postponed = Postponed(random.Random(1))
    for _ in range(9):
        postponed.add("a", "brokers away", 0)
    postponed.add("b", "no topic", 0)
    postponed.settle("a")
    assert postponed.notes() == ["the change of watch b waits: no topic"]
    assert postponed.add("a", "brokers away", 0) <= BACKOFF.first_seconds
    postponed.clear()
    assert postponed.notes() == []


def test_a_change_that_failed_is_told_until_it_is_over() -> None:
    postponed = Postponed(random.Random(1))
    postponed.add("a", "it fails", 0, lasting=True)
    postponed.add("a", "brokers away", 0)
    postponed.add("b", "no topic", 0)
    for watch in ("a", "b", "c"):
        postponed.begin(watch)
    assert postponed.notes() == ["the change of watch a waits: brokers away"]
    postponed.settle("a")
    assert postponed.notes() == []
