"""No body makes the operators' API fail: what cannot be used is refused with the reason."""

import asyncio
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from services.backbone.ledger.database import Pool
from tests.integration.lookout.api_rooms import Room
from tests.unit.lookout.samples import sample

pytestmark = pytest.mark.postgres

HOT = sample(watch="over-heat")
SILENCE = {"match": {"watch": "over-heat"}, "lasts": "2h", "reason": "the fans are replaced"}
ALERT = HOT.model_dump(mode="json")
NO_JSON = b'{"alert": {"values": {"x": 1e999}}, "at": -Infinity}'
NASTY = ["*", "\0", "\ud800", "x\udfff", "2h", "9" * 60 + "d", "email", "a" * 600, "2026-13-01"]
texts = st.text(max_size=40) | st.sampled_from(NASTY)
numbers = st.integers() | st.floats() | st.sampled_from([10**400, -(10**18), 2**63, 1e308])
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
names = st.sampled_from(
    (
        *("match", "starts_at", "ends_at", "lasts", "reason", "author", "channel", "recipient"),
        *("person", "route", "severity", "text", "heed_silences", "note", "alert", "at", "watch"),
    )
)
bodies = values | st.dictionaries(names, values, max_size=6)
paths = st.sampled_from(
    [
        "/silences",
        "/silences/preview",
        "/test-sends",
        "/routes/explain",
        f"/alerts/{HOT.alert_id}/acknowledge",
        "/alerts/%00/acknowledge",
    ]
)


@pytest.fixture
def room(pool: Pool, tmp_path: Path) -> Room:
    return Room(pool, tmp_path / "routes.yaml")


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=paths, body=bodies, raw=st.none() | st.binary(max_size=60))
@example("/silences", {"match": {"watch": "\ud800"}, "lasts": "2h", "reason": "r"}, None)
@example("/silences", {"match": {"labels": {"\ud800": "x"}}, "lasts": "2h", "reason": "r"}, None)
@example("/silences", SILENCE | {"reason": "\ud800"}, None)
@example("/silences", SILENCE | {"author": "\udfff"}, None)
@example("/silences", SILENCE | {"lasts": "1" * 60 + "d"}, None)
@example("/silences", SILENCE | {"match": {"watch": float("nan")}}, None)
@example("/silences", SILENCE | {"starts_at": float("inf")}, None)
@example("/silences", SILENCE | {"starts_at": 10**400}, None)
@example("/silences", SILENCE | {"starts_at": "9999-12-31T23:59:59Z"}, None)
@example("/routes/explain", {"alert": ALERT | {"values": {"x": float("inf")}}}, None)
@example("/routes/explain", {"alert": ALERT | {"summary": "\ud800"}}, None)
@example("/routes/explain", {"alert": ALERT | {"detected_at_ms": 10**400}}, None)
@example("/routes/explain", {"alert": ALERT, "at": float("nan")}, None)
@example("/routes/explain", {"alert": ALERT, "at": 1e300}, None)
@example("/routes/explain", {"alert": ALERT, "at": "9999-12-31T23:00:00Z"}, None)
@example("/routes/explain", {"alert": ALERT, "at": "0001-01-01T00:00:00+14:00"}, None)
@example("/routes/explain", None, NO_JSON)
@example("/test-sends", {"channel": "email", "recipient": "\ud800@x"}, None)
@example("/test-sends", {"channel": "bus", "recipient": "\ud800", "text": "\ud800"}, None)
@example("/test-sends", {"person": "\ud800"}, None)
@example("/test-sends", {"route": "\udfff", "severity": float("nan")}, None)
@example(f"/alerts/{HOT.alert_id}/acknowledge", {"note": "\ud800"}, None)
@example(f"/alerts/{HOT.alert_id}/acknowledge", {"person": "\ud800"}, None)
@example("/silences", None, b"[" * 100_000)
@example("/silences", None, b'"\xff"')
def test_no_body_makes_a_mistake_of_ours(
    room: Room, path: str, body: object, raw: bytes | None
) -> None:
    content = json.dumps(body).encode() if raw is None else raw
    answer = asyncio.run(room.ask("POST", path, content=content))
    assert answer.status_code in (200, 201, 202, 400, 404, 422), answer.text
    if answer.status_code >= 400:
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["detail"]
