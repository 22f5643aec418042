"""How far the consumer groups are behind the ends of what they read, as the brokers know it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Late
from dataclasses import dataclass
from typing import Any, Final

from confluent_kafka import (
    ConsumerGroupState,
    ConsumerGroupTopicPartitions,
    KafkaException,
    TopicPartition,
)
from confluent_kafka.admin import (  # type: ignore[attr-defined] # public, and not declared to be
    AdminClient,
    ConsumerGroupListing,
)
from confluent_kafka.admin._listoffsets import OffsetSpec

from services.backbone.errors import Transient
from services.backbone.kafka.client import common_config, opened, trouble
from services.backbone.kafka.sayings import Sayings
from services.backbone.settings import KafkaSettings

TIMEOUT_SECONDS: Final = 3.0
GROUPS_LIMIT: Final = 100
"""Most groups that are told of."""
_ASKED_AT_ONCE: Final = 100
"""Of so many groups the brokers are asked at once; others may have thousands on them."""

Place = tuple[str, int]
Offsets = Mapping[Place, int]


@dataclass(frozen=True, slots=True)
class Lag:
    """One group on one topic: records that it has not settled, and whether anybody reads."""

    group: str
    topic: str
    records: int
    has_members: bool


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

    Raises:
        Refused: at its making, by options that the client cannot be opened with.
    """

    def __init__(
        self, settings: KafkaSettings, program: str, is_ours: Callable[[str], bool]
    ) -> None:
        self._config = common_config(settings, program)
        self._is_ours = is_ours
        self._sayings = Sayings()
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
        places = {place for group in groups for place in group.settled}
        return Told(lags(groups, self._ends(client, places)), left_out)

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

    def _ends(self, client: AdminClient, places: Iterable[Place]) -> Offsets:
        latest = OffsetSpec.latest()  # type: ignore[no-untyped-call]  # the client lacks its type
        wanted = {TopicPartition(*place): latest for place in places}
        if not wanted:
            return {}
        asked = client.list_offsets(wanted, request_timeout=TIMEOUT_SECONDS)
        return {(each.topic, each.partition): _answer(of).offset for each, of in asked.items()}


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


def lags(groups: Iterable[Group], ends: Offsets) -> tuple[Lag, ...]:
    """Return the sum over partitions of what lies between settled and end, by group and topic."""
    summed: dict[tuple[str, str], Lag] = {}
    for group in groups:
        for place, offset in group.settled.items():
            key = group.name, place[0]
            before = summed[key].records if key in summed else 0
            records = before + max(0, ends.get(place, 0) - offset)
            summed[key] = Lag(*key, records, group.has_members)
    return tuple(summed[key] for key in sorted(summed))


def _settled(places: Iterable[TopicPartition]) -> dict[Place, int]:
    return {(each.topic, each.partition): each.offset for each in places if each.offset >= 0}


def _answer(asked: "Future[Any]") -> Any:
    try:
        return asked.result(timeout=TIMEOUT_SECONDS)
    except KafkaException as error:
        raise trouble(error) from None
    except Late:
        raise Transient(f"Kafka: no answer within {TIMEOUT_SECONDS:g} s") from None
