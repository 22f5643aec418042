"""How far the consumer groups are behind the ends of what they read, as the brokers know it."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Late
from dataclasses import dataclass, replace
from typing import Any, Final

from confluent_kafka import (
    ConsumerGroupState,
    ConsumerGroupTopicPartitions,
    KafkaError,
    KafkaException,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import (  # type: ignore[attr-defined] # public, and not declared to be
    AdminClient,
    ConsumerGroupListing,
    TopicDescription,
)
from confluent_kafka.admin._listoffsets import OffsetSpec

from services.backbone.errors import NoTopic, Refused, Transient, Trouble
from services.backbone.kafka.client import common_config, opened, trouble
from services.backbone.kafka.made_again import NOTHING, MadeAgain, Pair
from services.backbone.kafka.sayings import Sayings
from services.backbone.settings import KafkaSettings

TIMEOUT_SECONDS: Final = 3.0
GROUPS_LIMIT: Final = 100
"""Most groups that are told of."""
_ASKED_AT_ONCE: Final = 100
"""Of so many groups the brokers are asked at once; others may have thousands on them."""
_ANOTHERS: Final = sys.maxsize
"""Stands for what a group has settled of a topic before this one: it lies behind any end."""
_LATEST: Final = OffsetSpec.latest()  # type: ignore[no-untyped-call]  # the client lacks its type
_EARLIEST: Final = OffsetSpec.earliest()  # type: ignore[no-untyped-call]  # likewise

Place = tuple[str, int]
Offsets = Mapping[Place, int]


@dataclass(frozen=True, slots=True)
class Lag:
    """One group on one topic: records that it has not settled, and whether anybody reads."""

    group: str
    topic: str
    records: int
    has_members: bool
    made_again: bool = False
    """What it has settled is of a topic that was deleted, and this one made since under its name,
    or has lost its end: all records that are there count."""


@dataclass(frozen=True, slots=True)
class Told:
    """How far groups are behind, by name; so many more groups are left out."""

    lags: tuple[Lag, ...]
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Group:
    """One group as the brokers know it; a partition without a settled record is not in it."""

    name: str
    has_members: bool
    settled: Offsets


class LagReader:
    """Asks the brokers; use from one thread only.

    `made_again` is what one before it has remembered, and then what it remembers itself.

    Raises:
        Refused: at its making, by options that the client cannot be opened with.
    """

    def __init__(
        self,
        settings: KafkaSettings,
        program: str,
        is_ours: Callable[[str], bool],
        made_again: MadeAgain = NOTHING,
    ) -> None:
        self._config = common_config(settings, program)
        self._is_ours = is_ours
        self._sayings = Sayings()
        self.made_again = made_again
        self._client: AdminClient | None = self._open()

    def read(self) -> Told:
        """Return how far each group is behind on each of our topics that it has settled some of.

        Raises:
            Transient: the brokers do not answer in time.
            Refused: they do not allow it.
        """
        client = self._client or self._open()
        # Kept only if it gets its answers: one that has forgotten its brokers never finds them.
        self._client = None
        try:
            told = self._told(client)
        finally:
            client.poll(0)  # only so what it says comes into our log
        self._client = client
        return told

    def _told(self, client: AdminClient) -> Told:
        groups, left_out = shown(self._groups(client), self._is_ours)
        groups = self._with_forgotten(client, groups)
        ends = self._offsets(client, {at for group in groups for at in group.settled}, _LATEST)
        begins = self._offsets(client, beyond(groups, ends), _EARLIEST)
        return Told(lags(groups, ends, begins), left_out)

    def _with_forgotten(self, client: AdminClient, groups: Sequence[Group]) -> list[Group]:
        """Add what brokers have forgotten of groups, with the topics that were made again."""
        settled = {(group.name, topic) for group in groups for topic, _ in group.settled}
        topics = self._topics(client, self.made_again.topics() | {topic for _, topic in settled})
        ids = {name: str(found.topic_id) for name, found in topics.items()}
        counts = {name: len(found.partitions) for name, found in topics.items()}
        self.made_again = self.made_again.heard(settled, ids)
        return with_forgotten(groups, self.made_again.forgotten - settled, counts)

    def _open(self) -> AdminClient:
        return opened(AdminClient, self._config | {"logger": self._sayings})

    def _groups(self, client: AdminClient) -> Iterator[Group]:
        listed = _answer(client.list_consumer_groups(request_timeout=TIMEOUT_SECONDS))
        if listed.errors:
            raise trouble(listed.errors[0])
        for at in range(0, len(listed.valid), _ASKED_AT_ONCE):
            yield from self._some(client, listed.valid[at : at + _ASKED_AT_ONCE])

    def _some(self, client: AdminClient, some: Sequence[ConsumerGroupListing]) -> Iterator[Group]:
        asked = {
            each.group_id: client.list_consumer_group_offsets(
                [ConsumerGroupTopicPartitions(each.group_id)], request_timeout=TIMEOUT_SECONDS
            )[each.group_id]
            for each in some
        }
        for each in some:
            settled = _settled(_answer(asked[each.group_id]).topic_partitions)
            yield Group(each.group_id, each.state != ConsumerGroupState.EMPTY, settled)

    def _topics(self, client: AdminClient, names: Set[str]) -> dict[str, TopicDescription]:
        if not names:
            return {}
        asked = client.describe_topics(
            TopicCollection(sorted(names)), request_timeout=TIMEOUT_SECONDS
        )
        # One that may not be described brokers leave out of what groups have settled, too.
        return dict(_answers(asked, NoTopic, Refused))

    def _offsets(self, client: AdminClient, places: Set[Place], spec: OffsetSpec) -> Offsets:
        if not places:
            return {}
        asked = client.list_offsets(
            {TopicPartition(*place): spec for place in places}, request_timeout=TIMEOUT_SECONDS
        )
        answers = _answers(asked, NoTopic)
        return {(each.topic, each.partition): found.offset for each, found in answers}


def shown(groups: Iterable[Group], is_ours: Callable[[str], bool]) -> tuple[list[Group], int]:
    """Return the groups that have settled something on our topics, and how many are left out.

    The brokers may carry strangers' groups too: these take no place, and nobody waits for them.
    """
    own = [
        Group(each.name, each.has_members, settled)
        for each in groups
        if (settled := {at: end for at, end in each.settled.items() if is_ours(at[0])})
    ]
    own.sort(key=lambda each: each.name)
    return own[:GROUPS_LIMIT], max(0, len(own) - GROUPS_LIMIT)


def with_forgotten(
    groups: Sequence[Group], forgotten: Set[Pair], partitions: Mapping[str, int]
) -> list[Group]:
    """Return the groups with every partition of the topics whose settled records are forgotten.

    A group of which brokers know nothing any more stands among them, without members.
    """
    added: dict[str, dict[Place, int]] = {}
    for name, topic in sorted(forgotten):
        places = {(topic, each): _ANOTHERS for each in range(partitions.get(topic, 0))}
        added.setdefault(name, {}).update(places)
    known = {each.name: each for each in groups}
    found = [known.get(name) or Group(name, False, {}) for name in sorted({*known, *added})]
    return [replace(each, settled={**added.get(each.name, {}), **each.settled}) for each in found]


def beyond(groups: Iterable[Group], ends: Offsets) -> set[Place]:
    """Return the places at which a group has settled more than there ever was."""
    return {
        place
        for group in groups
        for place, offset in group.settled.items()
        if place in ends and offset > ends[place]
    }


def lags(groups: Iterable[Group], ends: Offsets, begins: Offsets) -> tuple[Lag, ...]:
    """Return the sum over partitions of what lies between settled and end, by group and topic.

    `begins` are those of places `beyond`; what has no end is of a topic that is gone.
    """
    summed: dict[Pair, Lag] = {}
    for group in groups:
        for place, offset in group.settled.items():
            if place not in ends:
                continue
            key, end = (group.name, place[0]), ends[place]
            before = summed.get(key, Lag(*key, 0, group.has_members))
            records = before.records + end - (offset if offset <= end else begins.get(place, end))
            made_again = before.made_again or offset > end
            summed[key] = replace(before, records=records, made_again=made_again)
    return tuple(summed[key] for key in sorted(summed))


def _settled(places: Iterable[TopicPartition]) -> dict[Place, int]:
    return {(each.topic, each.partition): each.offset for each in places if each.offset >= 0}


def _answers(
    asked: Mapping[Any, "Future[Any]"], *passed_over: type[Trouble]
) -> Iterator[tuple[Any, Any]]:
    """Yield what was asked for with its answer; of a topic that is passed over others hear theirs.

    Raises:
        Trouble: of a kind that is not passed over.
    """
    for each, answer in asked.items():
        try:
            yield each, _answer(answer)
        except passed_over:
            continue


def _answer(asked: "Future[Any]") -> Any:
    try:
        return asked.result(timeout=TIMEOUT_SECONDS)
    except KafkaException as error:
        if error.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
            raise NoTopic(str(trouble(error))) from None
        raise trouble(error) from None
    except Late:
        raise Transient(f"Kafka: no answer within {TIMEOUT_SECONDS:g} s") from None
