"""What each answer of the gateway means for a batch."""

import orjson
import pytest

from services.backbone.errors import Refused
from services.simulator.gateway_answer import Answer, read_answer
from services.simulator.tally import Outcome

ACCEPTED, REJECTED = Outcome.ACCEPTED, Outcome.REJECTED


def read(status: int, body: object, headers: dict[str, str] | None = None) -> Answer:
    return read_answer(status, headers or {}, orjson.dumps(body), 3)


def test_events_that_are_not_listed_were_accepted() -> None:
    assert read(200, {"accepted": 3}).outcomes == [ACCEPTED] * 3
    listed = {"results": [{"index": 1, "status": "rejected", "reason": "not_json"}]}
    assert read(207, listed).outcomes == [ACCEPTED, REJECTED, ACCEPTED]
    assert read(422, listed).outcomes == [ACCEPTED, REJECTED, ACCEPTED]


def test_only_what_is_not_known_to_be_kept_goes_again() -> None:
    body = {"results": [{"index": 0, "status": "retry"}, {"index": 2, "status": "rejected"}]}
    answer = read(503, body, {"retry-after": "2"})
    assert answer == Answer([None, ACCEPTED, REJECTED], 2.0)


@pytest.mark.parametrize("status", [408, 429, 502, 503, 504])
def test_a_busy_gateway_gets_everything_again(status: int) -> None:
    assert read(status, {"title": "busy"}).outcomes == [None] * 3
    assert read_answer(status, {}, b"<html>", 3).outcomes == [None] * 3


@pytest.mark.parametrize(
    ("said", "waited"), [("0", 0.0), ("7", 7.0), ("86400", 30.0), ("-1", 0.0), ("soon", None)]
)
def test_retry_after_is_honoured_within_bounds(said: str, waited: float | None) -> None:
    assert read(429, {}, {"retry-after": said}).retry_after_seconds == waited


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 415, 500])
def test_what_no_repeat_changes_ends_the_run(status: int) -> None:
    with pytest.raises(Refused, match=f"answers {status}: .*who"):
        read(status, {"title": "who"})
