"""A place of its own on the shared broker for each test, and a store for those that want one."""

from pathlib import Path

import pytest

from services.machine.installation.setup import jars_folder
from tests.integration.archivist.running import ArchivePlace, StorePlace
from tests.integration.s3 import S3Server


@pytest.fixture
def place(kafka_bootstrap: str, aldebaran_tools: Path, tmp_path: Path) -> ArchivePlace:
    """A place with a stream of its own."""
    made = ArchivePlace(kafka_bootstrap, tmp_path, jars_folder(aldebaran_tools, "spark"))
    made.declare_stream()
    return made


@pytest.fixture
def store_place(
    kafka_bootstrap: str, aldebaran_tools: Path, tmp_path: Path, store: S3Server
) -> StorePlace:
    """A place whose archive is in the store."""
    made = StorePlace(
        kafka_bootstrap,
        tmp_path,
        jars_folder(aldebaran_tools, "spark"),
        store=store,
        s3_jars=jars_folder(aldebaran_tools, "s3"),
    )
    made.declare_stream()
    return made
