"""One running system for all acceptance tests of a session."""

from collections.abc import Iterator

import pytest

from tests.acceptance.system import System
from tests.liveness import lives

SHORT = {"ALDEBARAN_ACCOUNTANT_TURN_SECONDS": "2"}
"""Less to wait for until the accountant looks again."""


@pytest.fixture(scope="session")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """Everything but the simulator, up and ready; ended with SIGTERM, which must leave nothing."""
    system = System(tmp_path_factory.mktemp("acceptance") / "home", extra=SHORT)
    try:
        system.start()
    except BaseException:
        system.stop()
        raise
    yield system
    family = system.family()
    assert system.stop() == 0, system.said()
    assert not [process for process in family if lives(process)]
