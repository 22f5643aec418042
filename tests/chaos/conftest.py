"""The stage that the kill matrix is played on."""

from collections.abc import Iterator

import pytest

from tests.chaos.setting import behind_doors
from tests.chaos.stage import Stage

BATCH_SECONDS = 60
"""Of the auditors: one killed at its own boundary is back before the other meets one, alone."""


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Everything with three brokers behind doors, up and ready."""
    with behind_doors(tmp_path_factory.mktemp("chaos") / "home", BATCH_SECONDS) as stage:
        stage.open()
        yield stage
        stage.close()
