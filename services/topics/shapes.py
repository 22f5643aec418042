"""Compares topics that are there with what is declared: their copies, and how they keep records."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Protocol

from services.backbone.errors import NoTopic, Refused
from services.backbone.kafka.admin import Kept
from services.contracts.topics import APPEND_TIME, Topic

_SET: Final = (
    "kafka-configs.sh --bootstrap-server $ALDEBARAN_KAFKA_BOOTSTRAP_SERVERS --alter"
    " --entity-type topics --add-config {} --entity-name {}"
)


class Shapes(Protocol):
    """What knows topics that are there; see TopicAdmin."""

    def copies(self) -> Mapping[str, int]:
        """Return how many copies each topic has."""

    def kept(self, topic: str) -> Kept:
        """Return how a topic's records are kept."""


def otherwise(admin: Shapes, topics: Sequence[Topic]) -> Iterator[str]:
    """Give a line for what is otherwise than declared, and harms no judgement.

    Raises:
        Transient: the brokers cannot be reached.
        Refused: topics of events keep their publishers' times, by which nothing may be judged.
    """
    yield from _fewer_copies(admin.copies(), topics)
    kept: dict[str, Kept] = {}
    untold: dict[str, Refused] = {}
    for topic in topics:
        try:
            kept[topic.name] = admin.kept(topic.name)
        except NoTopic:  # made a moment ago, as declared; not every broker knows it yet
            continue
        except Refused as error:
            untold[topic.name] = error
    yield from _unknown(untold)
    yield from _smaller_records(kept, topics)
    _refuse_publishers_times(kept, topics)


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


def _unknown(untold: Mapping[str, Refused]) -> Iterator[str]:
    if untold:
        yield (
            "warning: nobody knows whose times, and how large records, are kept by"
            f" {', '.join(untold)}: {next(iter(untold.values()))}"
        )


def _smaller_records(kept: Mapping[str, Kept], topics: Sequence[Topic]) -> Iterator[str]:
    taken = {each: kept[each.name].message_limit_bytes for each in topics if each.name in kept}
    small = [each for each, limit_bytes in taken.items() if limit_bytes < each.message_limit_bytes]
    if small:
        told = [
            f"{each.name} ({taken[each]} of {each.message_limit_bytes} bytes)" for each in small
        ]
        needed = f"max.message.bytes={small[0].message_limit_bytes}"
        yield (
            f"warning: smaller records than declared: {', '.join(told)}; what is larger is not"
            " taken, so that whoever has to write it cannot go on:"
            f" {_SET.format(needed, small[0].name)}"
        )


def _refuse_publishers_times(kept: Mapping[str, Kept], topics: Sequence[Topic]) -> None:
    wrong = [
        each.name
        for each in topics
        if each.append_time and each.name in kept and kept[each.name].with_publishers_times
    ]
    if wrong:
        stamp = _SET.format(f"message.timestamp.type={APPEND_TIME}", wrong[0])
        raise Refused(
            f"topics with their publishers' times: {', '.join(wrong)}; one event dated next year"
            f" would throw away everybody's state. Have the brokers stamp what comes: {stamp};"
            " all other topics are as declared"
        )
