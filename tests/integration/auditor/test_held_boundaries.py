"""Spark lets the length of a running query's batches be set, for books as for windows."""

import pytest

from tests.integration.auditor.running import Place, Running, wait_for
from tests.integration.said import said

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

WATCHES = ("over-purchase", "unusual-volume")
ENOUGH = 3
"""Boundaries after which every length has been set at least once."""


def test_every_shipped_watch_is_held_at_its_moments(place: Place) -> None:
    place.declare(*WATCHES)
    with place.auditor(AUDITOR_BATCH_SECONDS=5, AUDITOR_SLOTS=16) as auditor:
        auditor.wait_until_ready()
        wait_for("boundaries", lambda: all(boundaries(auditor, w) >= ENOUGH for w in WATCHES))
        assert told(auditor, "boundaries_not_held") == []
        assert auditor.terminate() == 0, auditor.log()[-3000:]


def boundaries(auditor: Running, watch: str) -> int:
    return len([line for line in told(auditor, "boundary") if line["watch"] == watch])


def told(auditor: Running, event: str) -> list[dict[str, object]]:
    return [line for line in said(auditor.log()) if line["event"] == event]
