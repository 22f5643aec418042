"""What is told of topics that are there and are not as declared, and what is refused."""

from dataclasses import dataclass, field

import pytest

from services.backbone.errors import NoTopic, Refused
from services.backbone.kafka.admin import Kept
from services.contracts.topics import REJECTED_LIMIT_BYTES, Topic
from services.topics.shapes import otherwise

EVENTS = Topic("trades", replication=3, append_time=True)
BEATS = Topic("trades.heartbeat", replication=3, append_time=True)
ALERTS = Topic("alerts", replication=3)
ASIDE = Topic("trades.rejected", replication=3, message_limit_bytes=REJECTED_LIMIT_BYTES)
TOPICS = (EVENTS, BEATS, ALERTS, ASIDE)
KAFKAS_OWN_BYTES = 1_048_588
"""As large are records of a topic that was made without a word."""


@dataclass
class Found:
    """Topics as the brokers have them; `troubles` is what they answer instead of a time."""

    made_with: dict[str, int] = field(default_factory=lambda: {each.name: 3 for each in TOPICS})
    publishers: tuple[str, ...] = ()
    limits: dict[str, int] = field(
        default_factory=lambda: {each.name: each.message_limit_bytes for each in TOPICS}
    )
    troubles: dict[str, Exception] = field(default_factory=dict)

    def copies(self) -> dict[str, int]:
        return self.made_with

    def kept(self, topic: str) -> Kept:
        if topic in self.troubles:
            raise self.troubles[topic]
        return Kept(topic in self.publishers, self.limits.get(topic, KAFKAS_OWN_BYTES))


def told(found: Found) -> list[str]:
    return list(otherwise(found, TOPICS))


def test_nothing_is_told_of_topics_that_are_as_declared_or_have_more_copies() -> None:
    more = {"trades": 3, "trades.heartbeat": 4, "alerts": 3}
    larger = {"trades": KAFKAS_OWN_BYTES, ASIDE.name: 2 * REJECTED_LIMIT_BYTES}
    assert told(Found(more, publishers=("alerts",), limits=larger)) == []


def test_topics_with_publishers_times_are_refused_with_the_command_that_mends_it() -> None:
    with pytest.raises(Refused) as refused:
        told(Found(publishers=("trades", "trades.heartbeat")))
    said = str(refused.value)
    assert said.startswith("topics with their publishers' times: trades, trades.heartbeat;")
    assert "--add-config message.timestamp.type=LogAppendTime --entity-name trades;" in said


def test_fewer_copies_are_told_and_stop_nobody() -> None:
    (line,) = told(Found({"trades": 1, "trades.heartbeat": 3, "alerts": 2}))
    assert line.startswith("warning: fewer copies than declared: trades (1 of 3), alerts (2 of 3);")


def test_a_topic_that_takes_smaller_records_only_is_told_with_the_command_that_mends_it() -> None:
    (line,) = told(Found(limits={ASIDE.name: KAFKAS_OWN_BYTES}))
    assert line.startswith(
        "warning: smaller records than declared: trades.rejected (1048588 of 8388608 bytes);"
    )
    assert line.endswith("--add-config max.message.bytes=8388608 --entity-name trades.rejected")


def test_brokers_that_do_not_tell_are_told_of_and_stop_nobody() -> None:
    forbidden = Refused("topic trades: Kafka: not allowed")
    troubles: dict[str, Exception] = {
        "trades": forbidden,
        "trades.heartbeat": NoTopic("new"),
        "alerts": forbidden,
    }
    (line,) = told(Found(troubles=troubles))
    assert line.endswith("kept by trades, alerts: topic trades: Kafka: not allowed")
