"""What tests of changes start from."""

from pathlib import Path

import pytest

from tests.unit.auditor.changing import World


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)
