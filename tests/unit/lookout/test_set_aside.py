"""An alert that is set aside is told to nobody, so it is counted where its alarm looks."""

import pytest
from prometheus_client import REGISTRY

from services.contracts.records import Malformed
from services.lookout.intake.pipeline import Arrival, decode
from tests.simulation.memory.tables import Tables
from tests.unit.deliverer.builders import FOUND_AT_MS, delivery
from tests.unit.lookout.test_mirrored import lookout


def set_aside() -> float:
    """Return how many were, which is told from the start on."""
    found = REGISTRY.get_sample_value("aldebaran_lookout_alerts_total", {"result": "rejected"})
    assert found is not None
    return found


def test_one_that_is_no_alert_is_counted() -> None:
    before = set_aside()
    with pytest.raises(Malformed):
        decode(b"{")
    assert set_aside() - before == 1


def test_one_that_is_too_large_is_counted() -> None:
    before, alert = set_aside(), delivery(1).alert
    large = alert.model_copy(update={"values": {"text": "x" * 1_000_000}})
    lookout(Tables(lambda: FOUND_AT_MS / 1000))([Arrival(large, large.encode())])
    assert set_aside() - before == 1
