"""What is told of topics that are there and are not as declared, and what is refused."""

from dataclasses import dataclass, field

import pytest

from services.backbone.errors import NoTopic, Refused
from services.contracts.topics import Topic
from services.topics.shapes import otherwise

EVENTS = Topic("trades", replication=3, append_time=True)
BEATS = Topic("trades.heartbeat", replication=3, append_time=True)
ALERTS = Topic("alerts", replication=3)


@dataclass
class Found:
    """Topics as the brokers have them; `troubles` is what they answer instead of a time."""

    made_with: dict[str, int] = field(
        default_factory=lambda: {each.name: 3 for each in (EVENTS, BEATS, ALERTS)}
    )
    publishers: tuple[str, ...] = ()
    troubles: dict[str, Exception] = field(default_factory=dict)

    def copies(self) -> dict[str, int]:
        return self.made_with

    def keeps_publishers_times(self, topic: str) -> bool:
        if topic in self.troubles:
            raise self.troubles[topic]
        return topic in self.publishers


def told(found: Found) -> list[str]:
    return list(otherwise(found, [EVENTS, BEATS, ALERTS]))


def test_nothing_is_told_of_topics_that_are_as_declared_or_have_more_copies() -> None:
    more = {"trades": 3, "trades.heartbeat": 4, "alerts": 3}
    assert told(Found(more, publishers=("alerts",))) == []


def test_topics_with_publishers_times_are_refused_with_the_command_that_mends_it() -> None:
    with pytest.raises(Refused) as refused:
        told(Found(publishers=("trades", "trades.heartbeat")))
    said = str(refused.value)
    assert said.startswith("topics with their publishers' times: trades, trades.heartbeat;")
    assert "--add-config message.timestamp.type=LogAppendTime --entity-name trades;" in said


def test_fewer_copies_are_told_and_stop_nobody() -> None:
    (line,) = told(Found({"trades": 1, "trades.heartbeat": 3, "alerts": 2}))
    assert line.startswith("warning: fewer copies than declared: trades (1 of 3), alerts (2 of 3);")


def test_brokers_that_do_not_tell_are_told_of_and_stop_nobody() -> None:
    forbidden = Refused("topic trades: Kafka: not allowed")
    (line,) = told(Found(troubles={"trades": forbidden, "trades.heartbeat": NoTopic("new")}))
    assert line.startswith("warning: ")
    assert "topic trades: Kafka: not allowed" in line
