"""A place of its own on the shared broker for each test."""

from pathlib import Path

import pytest

from tests.integration.auditor.running import Place


@pytest.fixture
def place(kafka_bootstrap: str, aldebaran_tools: Path, tmp_path: Path) -> Place:
    """A place without declarations yet."""
    return Place(kafka_bootstrap, tmp_path, aldebaran_tools / "jars" / "spark")
