"""A place of its own on the shared broker for each test."""

from pathlib import Path

import pytest

from tests.integration.archivist.running import ArchivePlace


@pytest.fixture
def place(kafka_bootstrap: str, aldebaran_tools: Path, tmp_path: Path) -> ArchivePlace:
    """A place with a stream and an account of its own."""
    made = ArchivePlace(kafka_bootstrap, tmp_path, aldebaran_tools / "jars" / "spark")
    made.declare_all()
    return made
