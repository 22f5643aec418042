import math
from pathlib import Path

import pytest

from services.backbone.errors import Refused
from services.contracts.topics import Topic
from services.topics.__main__ import set_as_declared, set_retention
from tests.streams import declare


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


def test_the_last_line_says_which_streams_of_which_folder_it_went_by(tmp_path: Path) -> None:
    """Told of no folder it reads the shipped streams, which may be others than those that run."""
    for stream in ("halls", "yards"):
        declare(tmp_path, stream, 100)
    topics = [f"{stream}{end}" for stream in ("halls", "yards") for end in ("", ".heartbeat")]
    kept = Kept(dict.fromkeys([*topics, "halls.rejected", "yards.rejected"], 100.0))
    last = f"every topic of halls, yards ({tmp_path}) is kept for as long as declared"
    assert [*set_as_declared(kept, tmp_path)] == [last]
    kept["yards"] = 2.0
    assert [*set_as_declared(kept, tmp_path)] == ["yards: kept for 100 h, was kept for 2 h", last]
