"""How much of a partition is unread, by what the brokers hold and what was read and settled."""

from dataclasses import dataclass
from typing import Any

import pytest
from confluent_kafka import OFFSET_INVALID, TopicPartition

from services.backbone.kafka.held import unread

PLACE = ("alerts", 0)


@dataclass
class Brokers:
    """A client of brokers that hold one partition from `begin` to before `end`."""

    begin: int
    end: int
    settled: int

    def get_watermark_offsets(self, place: TopicPartition, **_: object) -> tuple[int, int]:
        return self.begin, self.end

    def committed(self, places: list[TopicPartition], timeout: float) -> list[TopicPartition]:
        return [TopicPartition(*PLACE, self.settled) for _ in places]


def unread_of(brokers: Brokers, read: int, *, from_beginning: bool = True) -> dict[Any, int]:
    places = [TopicPartition(*PLACE, read)]
    return {**unread(brokers, places, 1, from_beginning=from_beginning)}  # type: ignore[arg-type] # a fake


@pytest.mark.parametrize(
    ("read", "settled", "count"), [(5, 3, 4), (3, 5, 4), (9, 9, 0), (OFFSET_INVALID, 9, 0)]
)
def test_what_was_read_or_settled_is_not_unread(read: int, settled: int, count: int) -> None:
    assert unread_of(Brokers(2, 9, settled), read).get(PLACE, 0) == count


@pytest.mark.parametrize("from_beginning", [True, False])
@pytest.mark.parametrize("settled", [50, OFFSET_INVALID])
def test_of_a_topic_that_was_made_again_all_is_unread(
    settled: int, *, from_beginning: bool
) -> None:
    found = unread_of(Brokers(0, 5, settled), 50, from_beginning=from_beginning)
    assert found == {PLACE: 5}


def test_what_was_read_of_the_new_topic_counts_beside_what_was_settled_of_the_old() -> None:
    assert unread_of(Brokers(0, 5, settled=50), 5) == {}
    assert unread_of(Brokers(0, 5, settled=50), 3) == {PLACE: 2}


@pytest.mark.parametrize("settled", [50, OFFSET_INVALID])
def test_one_that_begins_at_the_end_misses_nothing_before_its_first_record(settled: int) -> None:
    brokers = Brokers(0, 5, settled)
    assert unread_of(brokers, OFFSET_INVALID, from_beginning=False) == {}
