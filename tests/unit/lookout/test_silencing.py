"""The preview of a silence holds each alert against the time at which it was found."""

from datetime import datetime, timedelta

import pytest

from services.lookout.decisions.silencing import preview
from services.lookout.matching import Match
from tests.unit.lookout.samples import NOON, sample
from tests.unit.lookout.test_judgement import TIMES

NIGHT = NOON.replace(hour=23)


@pytest.mark.parametrize(
    ("match", "caught"),
    [
        (Match(times=(TIMES["nights"],)), [1, 3]),
        (Match(watch=("over-heat",), times=(TIMES["nights"],)), []),
        (Match(), [0, 1, 2, 3]),
    ],
)
def test_what_a_silence_at_night_would_have_caught(match: Match, caught: list[int]) -> None:
    moments: list[datetime] = [NOON, NIGHT, NOON + timedelta(days=1), NIGHT + timedelta(days=1)]
    newest = [
        sample(number, detected_at_ms=int(at.timestamp() * 1000))
        for number, at in enumerate(moments)
    ]
    told = preview(match, [each.encode().decode() for each in newest])
    assert (told.looked_at, told.caught) == (4, len(caught))
    assert told.examples == tuple(newest[each] for each in caught)
