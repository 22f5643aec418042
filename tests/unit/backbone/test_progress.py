"""A loop that stands still is seen."""

from services.backbone.clock import ManualClock
from services.backbone.progress import Progress


def test_a_loop_is_stalled_after_its_limit_and_healed_by_a_turn() -> None:
    clock = ManualClock()
    progress = Progress(clock, limit_seconds=60)
    clock.move(60)
    assert progress.stalled() is None
    clock.move(1)
    assert progress.stalled() == "no turn for 61 s"
    progress.beat()
    assert progress.stalled() is None


def test_no_loop_is_stalled_because_the_machine_slept() -> None:
    clock = ManualClock()
    progress = Progress(clock, limit_seconds=60)
    clock.sleep(3600)
    assert progress.stalled() is None
    clock.move(61)
    assert progress.stalled() == "no turn for 61 s"
