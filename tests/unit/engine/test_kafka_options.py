"""How Spark's clients reach Kafka is told once; a program's own name wins for it alone."""

import pytest

from archivist.settings import ArchivistSettings
from auditor.settings import AuditorSettings
from services.backbone.settings import read_settings

ALL, OWN = '{"security.protocol": "SASL_SSL"}', '{"security.protocol": "SSL"}'


def protocols() -> tuple[str | None, str | None]:
    """Return what the clients of the auditor and of the archivist speak."""
    auditor, archivist = read_settings(AuditorSettings), read_settings(ArchivistSettings)
    told = (auditor.kafka_client_options(), archivist.kafka_client_options())
    return told[0].get("security.protocol"), told[1].get("security.protocol")


def test_the_archivist_logs_in_as_the_auditors_do(monkeypatch: pytest.MonkeyPatch) -> None:
    assert protocols() == (None, None)
    monkeypatch.setenv("ALDEBARAN_AUDITOR_KAFKA_OPTIONS", ALL)
    assert protocols() == ("SASL_SSL", "SASL_SSL")
    monkeypatch.setenv("ALDEBARAN_ARCHIVIST_KAFKA_OPTIONS", OWN)
    assert protocols() == ("SASL_SSL", "SSL")
