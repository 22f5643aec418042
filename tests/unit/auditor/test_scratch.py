"""A scratch folder is away at the end, also if tasks of its query still write to it."""

import shutil
import threading
from collections.abc import Iterator
from itertools import repeat
from pathlib import Path

import pytest

from engine.scratch import DEADLINE_SECONDS, scratch
from services.backbone.clock import ManualClock


class Tasks(ManualClock):
    """Time in which tasks write: each wait of the remover is followed by a late file."""

    def __init__(self, writes: Iterator[str]) -> None:
        super().__init__()
        self.folder = Path()
        self._writes = writes

    def wait(self, stop: threading.Event, seconds: float) -> bool:
        """Let one more task write what it had begun."""
        if name := next(self._writes, None):
            late = self.folder / "state" / "0" / name
            late.parent.mkdir(parents=True, exist_ok=True)
            late.write_text("late")
        return super().wait(stop, seconds)


@pytest.mark.parametrize("late", [0, 1, 5])
def test_late_tasks_leave_nothing(late: int) -> None:
    clock = Tasks(iter(str(number) for number in range(late)))
    with scratch("test", clock) as folder:
        clock.folder = Path(folder)
        (clock.folder / "metadata").write_text("early")
    assert not clock.folder.exists()


def test_a_task_that_never_ends_holds_up_nobody() -> None:
    clock = Tasks(repeat("again"))
    begun = clock.monotonic_seconds()
    with scratch("test", clock) as folder:
        clock.folder = Path(folder)
    assert clock.monotonic_seconds() - begun < DEADLINE_SECONDS + 1
    shutil.rmtree(clock.folder)


def test_what_went_wrong_inside_is_told() -> None:
    clock = ManualClock()
    with pytest.raises(ValueError, match="inside"), scratch("test", clock) as folder:
        raise ValueError("inside")
    assert not Path(folder).exists()
