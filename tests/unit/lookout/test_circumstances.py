"""What holds alerts back no more is seen, so that all that waits is judged anew."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from services.backbone.clock import ManualClock
from services.lookout.intake.circumstances import Circumstances
from services.lookout.matching import Match
from services.lookout.standing import Silence
from services.lookout.week_times import WeekTimes

NOW = datetime(2026, 11, 28, 8, 30, tzinfo=UTC)
NIGHTS = Match(times=(WeekTimes("nights", ()),))
MOVED = Match(times=(WeekTimes("nights", (), inverse=True),))
SILENCE = Silence("s1", NIGHTS, NOW, NOW + timedelta(days=1), "ann", "asleep")


def loosened(*each: tuple[Silence, ...]) -> list[int]:
    """Return how often something has ended, after each reading of what stands."""
    circumstances, seen = Circumstances(ManualClock()), []
    for spoken in each:
        circumstances.refresh(spoken, ())
        seen.append(circumstances.loosened)
    return seen


def test_a_silence_that_is_over_loosens() -> None:
    assert loosened((), (SILENCE,), (SILENCE,), ()) == [0, 0, 0, 1]


def test_a_silence_whose_times_the_routes_have_moved_loosens_once() -> None:
    moved = replace(SILENCE, match=MOVED)
    assert loosened((SILENCE,), (moved,), (moved,)) == [0, 1, 1]
