"""Topics that were there before they were declared, on a real broker."""

from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from services.backbone.kafka.admin import TopicAdmin
from services.backbone.settings import KafkaSettings
from services.contracts.topics import heartbeat, rejected
from services.machine.waiting import wait_until
from services.topics.__main__ import main
from tests.streams import declare
from tests.topic import configure, until_listed

pytestmark = pytest.mark.kafka


def test_a_topic_made_plainly_is_refused_until_its_brokers_stamp_it(
    kafka_bootstrap: str,
    stream: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    declare(tmp_path, stream, 100)
    plain = [NewTopic(stream, num_partitions=2, replication_factor=1)]
    client = AdminClient({"bootstrap.servers": kafka_bootstrap})
    client.create_topics(plain)[stream].result(timeout=30)
    admin = TopicAdmin(KafkaSettings(kafka_bootstrap_servers=kafka_bootstrap), "test")
    until_listed(admin, stream)

    assert main([]) == 1
    said = capsys.readouterr().err
    assert f"topics with their publishers' times: {stream};" in said
    until_listed(admin, heartbeat(stream))  # all others are made
    configure(kafka_bootstrap, stream, "message.timestamp.type", "LogAppendTime")
    # A broker answers for a moment with what it knew before.
    wait_until(lambda: main([]) == 0, 30, "it is refused still")
    assert "warning" not in capsys.readouterr().out

    monkeypatch.setenv("ALDEBARAN_TOPIC_COPIES", "2")
    assert main([]) == 0
    assert f"{stream} (1 of 2)" in capsys.readouterr().out


def test_a_topic_kept_aside_in_that_takes_smaller_records_only_is_told(
    kafka_bootstrap: str, stream: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    declare(tmp_path, stream, 100)
    assert main([]) == 0
    assert "smaller records" not in capsys.readouterr().out
    configure(kafka_bootstrap, rejected(stream), "max.message.bytes", "1048588")

    def said() -> str:
        assert main([]) == 0
        return capsys.readouterr().out

    expected = f"smaller records than declared: {rejected(stream)} (1048588 of 8388608 bytes)"
    wait_until(lambda: expected in said(), 30, "it is not told")
