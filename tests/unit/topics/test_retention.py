import math

import pytest

from services.backbone.errors import Refused
from services.contracts.topics import Topic
from services.topics.__main__ import set_retention


class Kept(dict[str, float]):
    """Hours by topic, as brokers have them."""

    def partitions(self) -> dict[str, int]:
        return dict.fromkeys(self, 1)

    def retention_hours(self, topic: str) -> float:
        return self[topic]

    def keep(self, topic: str, hours: int) -> None:
        self[topic] = hours


@pytest.mark.parametrize(
    ("before", "said"),
    [
        (100.0, ["trades: kept for 2 h, was kept for 100 h"]),
        (0.5, ["trades: kept for 2 h, was kept for 0.5 h"]),
        (math.inf, ["trades: kept for 2 h, was kept without limit"]),
        (2.0, []),
    ],
)
def test_what_was_kept_for_another_time_is_named_with_it(before: float, said: list[str]) -> None:
    kept = Kept(trades=before)
    assert [*set_retention(kept, [Topic("trades", retention_hours=2)])] == said
    assert kept == {"trades": 2}


def test_a_topic_that_is_not_there_keeps_no_other_from_its_time() -> None:
    kept = Kept(trades=100.0)
    topics = [Topic(name, retention_hours=2) for name in ("absent", "trades")]
    lines = set_retention(kept, topics)
    assert next(lines) == "trades: kept for 2 h, was kept for 100 h"
    with pytest.raises(Refused, match="there is no topic absent: make them first"):
        next(lines)
    assert kept == {"trades": 2}
