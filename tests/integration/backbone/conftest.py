"""What tests of topics on real brokers share."""

import uuid
from pathlib import Path

import pytest


@pytest.fixture
def stream(kafka_bootstrap: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A stream's new name; `services.topics` goes by the files of `tmp_path`."""
    monkeypatch.setenv("ALDEBARAN_KAFKA_BOOTSTRAP_SERVERS", kafka_bootstrap)
    monkeypatch.setenv("ALDEBARAN_STREAMS_DIR", str(tmp_path))
    return f"t-{uuid.uuid4().hex}"
