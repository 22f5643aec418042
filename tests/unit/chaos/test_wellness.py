"""Who has been killed a moment ago is not well, though nobody has missed it yet."""

from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, Gauge, generate_latest

from services.heartbeat import metrics
from services.machine.ports import free_ports
from tests.acceptance.system import System
from tests.chaos.wellness import BEATS_SECONDS, unanswered, unheard


@pytest.mark.parametrize(
    ("ages", "late"),
    [
        ({}, None),
        ({"a": 0.1, "b": BEATS_SECONDS}, None),
        ({"a": 0.1, "b": BEATS_SECONDS + 0.1}, 'auditor="b"'),
        ({"a": 1e9, "b": 0.0}, 'auditor="a"'),
    ],
)
def test_an_old_answer_names_its_auditor(ages: dict[str, float], late: str | None) -> None:
    registry = CollectorRegistry()
    name = next(iter(metrics.ANSWER_AGE.describe())).name
    gauge = Gauge(name, "as the heartbeat tells", ["watch", "auditor"], registry=registry)
    for auditor, age in ages.items():
        gauge.labels("w", auditor).set(age)
    said = unanswered(generate_latest(registry).decode())
    assert said is None if late is None else said is not None and late in said


def test_a_heartbeat_that_is_gone_is_not_well(tmp_path: Path) -> None:
    system = System(tmp_path / "home", channels=("bus",))
    system.ports["ALDEBARAN_PORT_HEARTBEAT"] = free_ports(1)[0]
    assert "ConnectError" in (unheard(system) or "")
