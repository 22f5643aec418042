"""A deliverer that does not start with what it was told."""

from tests.integration.deliverer.conftest import Start


def told_at_the_start(start: Start, channel: str, **settings: object) -> str:
    """Return the log of one that has ended because of its settings."""
    deliverer = start(channel, ready=False, **settings)
    assert deliverer.process is not None
    assert deliverer.process.wait(60) == 78
    return deliverer.log_file.read_text()
