"""Dropped copies are counted by alert and auditor, and survive an outage of the ledger."""

from collections import Counter
from collections.abc import Mapping

import pytest

from services.backbone.errors import Transient
from services.lookout.intake import counting
from services.lookout.intake.counting import Repeats
from tests.unit.lookout.samples import sample


class OneBook:
    """A ledger's counts, which can be away."""

    def __init__(self) -> None:
        self.kept: Counter[tuple[str, str]] = Counter()
        self.away = False

    def add(self, copies: Mapping[tuple[str, str], int]) -> None:
        if self.away:
            raise Transient("away")
        self.kept.update(copies)


def test_copies_are_written_together_and_kept_through_an_outage() -> None:
    book = OneBook()
    repeats = Repeats(book)
    one, other = sample(1, auditor="a"), sample(2, auditor="b")
    repeats.dropped([one, other, one])
    book.away = True
    with pytest.raises(Transient):
        repeats.do()
    repeats.close()
    repeats.dropped([other])
    book.away = False
    assert repeats.do() == 2
    assert repeats.do() == 0
    assert book.kept == {(one.alert_id, "a"): 2, (other.alert_id, "b"): 2}


def test_one_turn_is_bounded_and_closing_writes_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "TOGETHER_LIMIT", 2)
    book = OneBook()
    repeats = Repeats(book)
    repeats.dropped([sample(number) for number in range(5)])
    assert repeats.do() == 2
    repeats.close()
    assert book.kept.total() == 5
