"""What a search has found tells which record is set aside, or why none is."""

import pytest

from auditor.checkpoints.ranges import Range, told
from auditor.checkpoints.spared import SPARED_MAX, Place
from auditor.recovery.guilt import place_to_spare
from auditor.recovery.poison import Verdict
from services.backbone.errors import Refused, Transient, Trouble

REASON = "[DIVIDE_BY_ZERO] SQLSTATE: 22012"
ONE, TWO, MANY = Range("t", 0, 7, 8), Range("t", 0, 7, 9), Range("t", 1, 0, 100)

NONE_TO_SPARE = [
    (Verdict(None, (MANY,), (TWO,)), 0, Transient, "t/1: 0 to 99 are not looked at yet"),
    (Verdict(None, (), (TWO, MANY)), 0, Refused, "no single record .* t/0: 7 to 8, t/1: 0 to 99"),
    (Verdict(TWO), 0, Refused, r"no single record .* Somewhere in t/0: 7 to 8\."),
    (Verdict(TWO), SPARED_MAX, Refused, "no single record"),
    (Verdict(ONE), SPARED_MAX, Refused, f"{SPARED_MAX} records are set aside already.* t/0: 7 to"),
]


@pytest.mark.parametrize("spared", [0, SPARED_MAX - 1])
def test_one_record_that_fails_alone_is_spared_while_there_is_room(spared: int) -> None:
    assert place_to_spare("w", Verdict(ONE), spared, REASON) == Place("t", 0, 7)


@pytest.mark.parametrize(("verdict", "spared", "raised", "said"), NONE_TO_SPARE)
def test_what_is_no_one_record_is_not_spared(
    verdict: Verdict, spared: int, raised: type[Trouble], said: str
) -> None:
    with pytest.raises(raised, match=said) as error:
        place_to_spare("w", verdict, spared, REASON)
    assert REASON in str(error.value)
    assert "try_cast" in str(error.value)


def test_of_many_ranges_some_are_told() -> None:
    ranges = [Range("t", number, 0, 1) for number in range(10)]
    assert told(ranges[:2]) == "t/0: 0 to 0, t/1: 0 to 0"
    assert told(ranges).endswith("t/7: 0 to 0 and 2 more")
