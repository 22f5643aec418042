"""One running system for all acceptance tests of a session."""

from collections.abc import Iterator

import pytest

from services.machine.waiting import wait_until
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
    # Whoever kills a group waits for its first process only; others end when they have a turn.
    wait_until(lambda: not any(map(lives, family)), 20, "processes of the run are left")
