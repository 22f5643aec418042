"""Compares topics that are there with what is declared: their copies, and whose times they keep."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Protocol

from services.backbone.errors import NoTopic, Refused
from services.contracts.topics import APPEND_TIME, Topic

_STAMP: Final = (
    "kafka-configs.sh --bootstrap-server $ALDEBARAN_KAFKA_BOOTSTRAP_SERVERS --alter"
    f" --entity-type topics --add-config message.timestamp.type={APPEND_TIME} --entity-name "
)


class Shapes(Protocol):
    """What knows topics that are there; see TopicAdmin."""

    def copies(self) -> Mapping[str, int]:
        """Return how many copies each topic has."""

    def keeps_publishers_times(self, topic: str) -> bool:
        """Tell whether a topic's records have their publishers' times."""


def otherwise(admin: Shapes, topics: Sequence[Topic]) -> Iterator[str]:
    """Give a line for what is otherwise than declared, and harms no judgement.

    Raises:
        Transient: the brokers cannot be reached.
        Refused: topics of events keep their publishers' times, by which nothing may be judged.
    """
    yield from _fewer_copies(admin.copies(), topics)
    wrong = []
    for topic in topics:
        try:
            if topic.append_time and admin.keeps_publishers_times(topic.name):
                wrong.append(topic.name)
        except NoTopic:  # made a moment ago, as declared; not every broker knows it yet
            continue
        except Refused as error:
            yield f"warning: nobody knows whose times it keeps: {error}"
    if wrong:
        raise Refused(_publishers_times(wrong))


def _fewer_copies(copies: Mapping[str, int], topics: Sequence[Topic]) -> Iterator[str]:
    few = [
        f"{each.name} ({copies[each.name]} of {each.replication})"
        for each in topics
        if copies.get(each.name, each.replication) < each.replication
    ]
    if few:
        yield (
            f"warning: fewer copies than declared: {', '.join(few)}; they stay as they are until"
            " kafka-reassign-partitions.sh gives them more"
        )


def _publishers_times(names: Sequence[str]) -> str:
    return (
        f"topics with their publishers' times: {', '.join(names)}; one event dated next year would"
        f" throw away everybody's state. Have the brokers stamp what comes: {_STAMP}{names[0]};"
        " all other topics are as declared"
    )
