"""What Spark writes counts as written once all copies have it, whatever clients are told."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pydantic import SecretStr

from archivist.queries import aside_options
from archivist.settings import ArchivistSettings
from auditor.checkpoints.checkpoint import Checkpoint, Fingerprint
from auditor.queries.query import sink
from auditor.settings import AuditorSettings

HASTY = {"acks": SecretStr("1")}


class Told:
    """A query's way to Kafka that keeps what it is told."""

    def __init__(self) -> None:
        self.by_option: dict[str, str] = {}

    def options(self, **all_at_once: str) -> "Told":
        self.by_option |= all_at_once
        return self

    def option(self, name: str, value: str) -> "Told":
        return self.options(**{name: value})

    def named(self, _: str) -> "Told":
        return self

    format = outputMode = queryName = named


def test_alerts_are_written_to_all_copies() -> None:
    wanted = Fingerprint(1, "", "", "", "", 2)
    told: Any = Told()
    messages: Any = SimpleNamespace(writeStream=told)
    settings = AuditorSettings(auditor_kafka_options=HASTY)
    sink(messages, Checkpoint("w", Path("home"), wanted), settings)
    assert told.by_option["kafka.acks"] == "all"


def test_what_is_kept_aside_is_written_to_all_copies() -> None:
    settings = ArchivistSettings(archivist_kafka_options=HASTY)
    assert aside_options(settings)["kafka.acks"] == "all"
