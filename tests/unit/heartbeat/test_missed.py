"""A dead auditor misses each beat: all are counted, and few are logged."""

from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import cast

from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from services.backbone.clock import ManualClock
from services.backbone.errors import Trouble
from services.backbone.kafka.consumer import Incoming
from services.backbone.kafka.producer import Outgoing, Producer
from services.backbone.seldom import EVERY_SECONDS
from services.backbone.service import Life
from services.heartbeat.beats import Beats
from services.heartbeat.hearing import Hearing
from services.heartbeat.pulse import Pulse
from tests.unit.heartbeat.test_declared import Scene

INTERVAL_SECONDS = 2.0
LONG_SECONDS = 10 * EVERY_SECONDS


class NoAnswers:
    """Brokers that take each beat, and bring no answer; the life ends after a while of it."""

    def __init__(self, clock: ManualClock) -> None:
        self.consumer = self
        self.life = Life(clock)
        self._clock = clock
        self._ends = clock.monotonic_seconds() + LONG_SECONDS

    def assigned(self) -> bool:
        return True

    def batch(self, limit: int, timeout_seconds: float) -> list[Incoming]:
        self._clock.move(max(0.01, timeout_seconds))
        if self._clock.monotonic_seconds() >= self._ends:
            self.life.stop.set()
        return []

    def send(self, records: Sequence[Outgoing]) -> "Future[list[Trouble | None]]":
        taken: Future[list[Trouble | None]] = Future()
        taken.set_result([None] * len(records))
        return taken


def test_a_dead_auditor_fills_no_log(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    silent, following = NoAnswers(scene.clock), scene.following()
    beats = Beats(in_time_seconds=5.0, expected=frozenset({"dead"}))
    answers, producer = cast(Hearing, silent), cast(Producer, silent)
    pulse = Pulse("run", following, INTERVAL_SECONDS, beats, answers, producer, silent.life)
    before = missed()
    with capture_logs() as lines:
        pulse.beat_until_stopped()
    watches, beaten = len(following.now.watches), LONG_SECONDS / INTERVAL_SECONDS
    told = [each for each in lines if each["log_level"] == "warning"]
    assert {each["auditor"] for each in told} == {"dead"}
    assert len(told) <= watches * LONG_SECONDS / EVERY_SECONDS
    assert missed() - before >= 0.9 * watches * beaten


def missed() -> float:
    """Return how many beats the dead auditor has missed."""
    return sum(
        sample.value
        for metric in REGISTRY.collect()
        for sample in metric.samples
        if sample.name == "aldebaran_heartbeat_missed_total" and sample.labels["auditor"] == "dead"
    )
