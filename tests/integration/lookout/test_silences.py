"""Silences are kept with author and reason, checked before they count, and ended once."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from services.backbone.errors import Refused
from services.backbone.ledger.alerts.intake import Intake, NewAlert
from services.backbone.ledger.database import Pool
from services.backbone.ledger.operators.silences import (
    STANDING_LIMIT,
    STARS_LIMIT,
    NewSilence,
    Silences,
)
from services.contracts.records import Alert
from tests.unit.lookout.samples import sample

pytestmark = pytest.mark.postgres

NOW = datetime.now(UTC)
HOUR = timedelta(hours=1)


def silence(**changes: Any) -> NewSilence:
    given: dict[str, Any] = {
        "silence_id": "s1",
        "match": {"watch": ["over-heat"]},
        "starts_at": NOW - HOUR,
        "ends_at": NOW + HOUR,
        "author": "ann",
        "reason": "the hall is rebuilt",
    }
    return NewSilence(**given | changes)


def test_a_silence_stands_until_it_is_ended(pool: Pool) -> None:
    silences = Silences(pool)
    made = silences.create(silence())
    assert silences.create(silence(reason="the same id is the same silence")) == made
    assert silences.standing() == [made]
    ended = silences.end("s1", "bob")
    assert (ended.ended_by, ended.reason) == ("bob", "the hall is rebuilt")
    assert silences.standing() == []
    assert silences.newest().rows == [silences.one("s1")]
    with pytest.raises(Refused, match="unknown or over"):
        silences.end("s1", "bob")
    with pytest.raises(Refused, match="who ends"):
        silences.end("s1", " ")


@pytest.mark.parametrize(
    "match",
    [
        {"watch": ["x" * 500] * 9},
        {"labels": {"zone": ["*a" * (STARS_LIMIT + 1)]}},
        {"watch": ["*"] * (STARS_LIMIT + 1)},
    ],
)
def test_a_match_that_each_alert_would_pay_for_is_refused(
    pool: Pool, match: dict[str, Any]
) -> None:
    with pytest.raises(Refused, match="at most 4096 characters as JSON, 64 of them"):
        Silences(pool).create(silence(match=match))
    Silences(pool).create(silence(match={"watch": ["*"] * STARS_LIMIT}))


def test_a_silence_of_the_past_does_not_stand_and_one_of_the_future_is_announced(
    pool: Pool,
) -> None:
    silences = Silences(pool)
    silences.create(silence(starts_at=NOW + HOUR, ends_at=NOW + 2 * HOUR))
    assert [each.silence_id for each in silences.standing()] == ["s1"]
    with pool.connection() as connection:
        connection.execute("UPDATE silences SET starts_at = '2020-01-01', ends_at = '2020-01-02'")
    assert silences.standing() == []
    assert silences.one("s1") is not None
    assert silences.one("s2") is None


def test_what_stands_is_told_newest_first(pool: Pool) -> None:
    silences = Silences(pool)
    for number in range(3):
        silences.create(silence(silence_id=f"s{number}"))
    with pool.connection() as connection:
        connection.execute("UPDATE silences SET reason = 'moved' WHERE silence_id = 's0'")
    assert [each.silence_id for each in silences.standing()] == ["s2", "s1", "s0"]


def test_a_silence_that_is_asked_for_again_is_told_though_no_more_may_stand(pool: Pool) -> None:
    silences = Silences(pool)
    made = silences.create(silence())
    with pool.connection() as connection:
        connection.execute(
            "INSERT INTO silences (silence_id, match, starts_at, ends_at, author, reason, source) "
            "SELECT 'more' || number, match, starts_at, ends_at, author, reason, source "
            "FROM silences, generate_series(2, %s) AS number",
            (STANDING_LIMIT,),
        )
    with pytest.raises(Refused, match="stand already"):
        silences.create(silence(silence_id="another"))
    assert silences.create(silence()) == made


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"author": ""}, "needs an author"),
        ({"reason": "  "}, "needs a reason"),
        ({"reason": "x" * 513}, "needs a reason"),
        ({"match": {}}, "needs a match"),
        ({"match": {"watch": [], "labels": {}}}, "needs a match"),
        ({"ends_at": NOW - 2 * HOUR}, "after starts_at"),
        ({"ends_at": NOW - HOUR / 2}, "in the past"),
        ({"ends_at": NOW + timedelta(days=367)}, "at most 366 days"),
        ({"ends_at": datetime(2099, 1, 1)}, "time zone"),  # noqa: DTZ001 (that is the point)
        ({"match": {"watch": ["a\0b"]}}, "cannot be stored"),
    ],
)
def test_what_is_wrong_is_said(pool: Pool, changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        Silences(pool).create(silence(**changes))
    assert Silences(pool).standing() == []


def test_a_sample_of_the_newest_alerts_is_for_previews(pool: Pool, intake: Intake) -> None:
    alerts = [sample(number, values={"large": "x" * 1000}) for number in range(3)]
    intake.accept([NewAlert(each, each.encode(), "default", ()) for each in alerts])
    seen = [Alert.decode(each.encode()) for each in Silences(pool).sample(2)]
    assert len(seen) == 2
    assert all(each.values == {} for each in seen)
