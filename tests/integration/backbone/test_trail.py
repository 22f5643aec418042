"""A trail along real partitions."""

import time
import uuid

import confluent_kafka as kafka
import pytest

from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.trail import Followed, Places, Trail
from services.backbone.settings import KafkaSettings
from services.console.tracing.reading import is_read
from services.contracts.topics import Topic
from services.machine.waiting import wait_until

pytestmark = pytest.mark.kafka


class Exactly:
    """A publisher that writes to one topic in transactions."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        name = {"bootstrap.servers": bootstrap, "transactional.id": topic}
        self._topic, self._client = topic, kafka.Producer(name)
        self._client.init_transactions(30)

    def write(self, values: list[bytes], *, is_kept: bool = True) -> None:
        """Write these in one transaction; without keeping it nobody may read them."""
        self._client.begin_transaction()
        for value in values:
            self._client.produce(self._topic, value)
        self._client.flush(30)
        end = self._client.commit_transaction if is_kept else self._client.abort_transaction
        end(30)


@pytest.fixture
def settings(kafka_bootstrap: str) -> KafkaSettings:
    return KafkaSettings(kafka_bootstrap_servers=kafka_bootstrap)


@pytest.fixture
def topic(settings: KafkaSettings) -> str:
    name = f"t-{uuid.uuid4().hex}"
    TopicAdmin(settings, "test").declare([Topic(name)])
    return name


def ends(settings: KafkaSettings, topic: str) -> Places:
    """Return where a trail begins to which nothing belongs that is there."""
    trail = Trail(settings, Followed(b"", (), [topic]), int(time.time() * 1000) + 60_000, {})
    found = trail.places
    trail.close()
    return found


@pytest.mark.parametrize("is_kept", [True, False])
def test_a_trail_comes_to_the_end_of_what_was_written_in_transactions(
    settings: KafkaSettings, topic: str, *, is_kept: bool
) -> None:
    publisher = Exactly(settings.kafka_bootstrap_servers, topic)
    publisher.write([b"1", b"2", b"3"])
    trail, values = Trail(settings, Followed(b"", (), [topic]), 0, {}), list[bytes]()

    def has_come_to(end: int) -> bool:
        values.extend(each.value for each in trail.read(100, 0.1)[1])
        return trail.places == {f"{topic}/0": end}

    wait_until(lambda: has_come_to(4), 30, "the first transaction's end")
    publisher.write([b"4"], is_kept=is_kept)
    wait_until(lambda: has_come_to(6), 30, "the second transaction's end")
    trail.close()
    assert values == [b"1", b"2", b"3", *([b"4"] if is_kept else [])]
    assert is_read(trail.places, ends(settings, topic))
