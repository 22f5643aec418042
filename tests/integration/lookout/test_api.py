"""The operators' API: what it does stands in the ledger, what it refuses says what to do."""

from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from services.backbone.ledger.accounting.completeness import Completeness
from services.backbone.ledger.database import Pool
from services.backbone.ledger.deliveries.dropped import DroppedAddress, DroppedAddresses
from services.backbone.settings import LedgerSettings
from services.contracts.ids import delivery_id
from services.contracts.watches import TEST_SEND
from tests.integration.lookout.api_rooms import Room
from tests.integration.lookout.later_rows import message, record, rows, step
from tests.unit.lookout.samples import sample

pytestmark = pytest.mark.postgres

SILENCE: dict[str, Any] = {
    "match": {"watch": "over-heat"},
    "lasts": "2h",
    "reason": "the fans are replaced",
}
HOT = sample(watch="over-heat")


@pytest.fixture
def room(pool: Pool, tmp_path: Path) -> Room:
    return Room(pool, tmp_path / "routes.yaml")


async def test_a_silence_is_tried_created_listed_and_ended(room: Room, ledger_url: str) -> None:
    record(room.pool, HOT, message(HOT, "email", "desk@example.com"))
    record(room.pool, sample(2), message(sample(2), "email", "desk@example.com"))
    tried = (await room.ask("POST", "/silences/preview", SILENCE)).json()
    assert (tried["alerts_looked_at"], tried["alerts_caught"]) == (2, 1)
    assert (tried["deliveries_looked_at"], tried["deliveries_held_back"]) == (2, 1)
    assert tried["alerts"][0]["alert_id"] == HOT.alert_id
    assert (await room.ask("GET", "/silences")).json() == {"silences": []}
    made = await room.ask("POST", "/silences", SILENCE)
    assert made.status_code == 201
    silence = made.json()
    assert (silence["author"], silence["source"]) == ("ann", "api ann")
    listed = (await room.ask("GET", "/silences?standing=true")).json()["silences"]
    assert [each["silence_id"] for each in listed] == [silence["silence_id"]]
    ended = (await room.ask("DELETE", f"/silences/{silence['silence_id']}")).json()
    assert ended["ended_by"] == "ann"
    again = await room.ask("DELETE", f"/silences/{silence['silence_id']}")
    assert (again.status_code, again.json()) == (200, ended)


@pytest.mark.parametrize(("hour", "held_back"), [(12, 0), (23, 1)])
async def test_what_waits_is_tried_against_the_time_at_which_the_silence_begins(
    room: Room, hour: int, held_back: int
) -> None:
    nights = '\ntimes: {nights: [{from: "22:00", to: "06:00", zone: UTC}]}\n'
    room.routes_file.write_text(room.routes_file.read_text() + nights)
    assert (await room.ask("POST", "/routes/reload")).status_code == 200
    record(room.pool, HOT, message(HOT, "email", "desk@example.com"))
    body = SILENCE | {"match": {"during": "nights"}, "starts_at": f"2100-01-01T{hour}:00:00Z"}
    tried = (await room.ask("POST", "/silences/preview", body)).json()
    assert (tried["deliveries_looked_at"], tried["deliveries_held_back"]) == (1, held_back)


@pytest.mark.parametrize("first", ["ann", "bob"])
async def test_a_silence_is_ended_by_the_person_who_is_named(room: Room, first: str) -> None:
    path = f"/silences/{(await room.ask('POST', '/silences', SILENCE)).json()['silence_id']}"
    with capture_logs() as said:
        told = [
            await room.ask("DELETE", f"{path}?person={who}") for who in (first, first, "eve", "")
        ]
    ended_for = [each for each in said if each["event"] == "silence_ended_for"]
    assert {(each["person"], each["key"]) for each in ended_for} == {
        (who, "ann") for who in {first, "eve"} - {"ann"}
    }
    assert [each.status_code for each in told] == [200, 200, 404, 200 if first == "ann" else 404]
    assert [each.json()["ended_by"] for each in told[:2]] == [first, first]
    assert told[2].json()["title"] == "no_such_silence"
    for wrong in ("a%00b", "x" * 513):
        assert (await room.ask("DELETE", f"{path}?person={wrong}")).status_code == 422


async def test_the_same_idempotency_key_is_one_silence(room: Room) -> None:
    made = [await room.ask("POST", "/silences", SILENCE, idempotency_key="k") for _ in range(2)]
    assert made[0].json() == made[1].json()
    assert len((await room.ask("GET", "/silences")).json()["silences"]) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"lasts": "3h"},
        {"reason": "something else"},
        {"author": "bob"},
        {"match": {"watch": "cpu"}},
        {"starts_at": "2026-11-01T00:00:00Z", "lasts": "366d"},
    ],
)
async def test_the_same_key_for_another_silence_is_told_and_makes_none(
    room: Room, change: dict[str, Any]
) -> None:
    first = (await room.ask("POST", "/silences", SILENCE, idempotency_key="k")).json()
    other = await room.ask("POST", "/silences", SILENCE | change, idempotency_key="k")
    assert (other.status_code, other.json()["title"]) == (409, "key_used")
    assert first["silence_id"] in other.json()["detail"]
    assert (await room.ask("GET", "/silences")).json()["silences"] == [first]


async def test_a_silence_with_whole_times_is_the_same_again(room: Room) -> None:
    body = SILENCE | {"starts_at": "2099-11-01T00:00:00+01:00", "ends_at": "2099-11-02T00:00:00Z"}
    del body["lasts"]
    made = [await room.ask("POST", "/silences", body, idempotency_key="k") for _ in range(2)]
    assert [each.status_code for each in made] == [201, 201]
    assert made[0].json() == made[1].json()


async def test_all_silences_that_stand_are_listed_unless_fewer_are_asked_for(room: Room) -> None:
    made = [(await room.ask("POST", "/silences", SILENCE)).json() for _ in range(51)]
    newest = [each["silence_id"] for each in reversed(made)]
    for query, ids in (("", newest), ("&limit=2", newest[:2])):
        page = (await room.ask("GET", f"/silences?standing=true{query}")).json()
        assert [each["silence_id"] for each in page["silences"]] == ids


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"lasts": "soon"}, "lasts"),
        ({"lasts": None}, "either ends_at or lasts"),
        ({"ends_at": "2099-01-01T00:00:00Z"}, "either ends_at or lasts"),
        ({"lasts": "3650d"}, "at most 366 days"),
        ({"match": {}}, "needs a match"),
        ({"match": {"wach": "x"}}, "wach"),
        ({"match": {"during": "never-declared"}}, "no times"),
        ({"reason": ""}, "reason"),
        ({"starts_at": "2026-01-01T00:00:00"}, "timezone"),
        ({"unknown": 1}, "unknown"),
    ],
)
async def test_a_silence_that_cannot_be_is_refused_with_the_reason(
    room: Room, changes: dict[str, object], said: str
) -> None:
    body = {name: value for name, value in (SILENCE | changes).items() if value is not None}
    refused = await room.ask("POST", "/silences", body)
    assert refused.status_code == 422
    assert refused.headers["content-type"] == "application/problem+json"
    assert said in refused.json()["detail"]


async def test_acknowledging_ends_the_escalation_and_twice_is_once(
    room: Room, ledger_url: str
) -> None:
    record(room.pool, HOT, steps=(step(0, 300),))
    path = f"/alerts/{HOT.alert_id}/acknowledge"
    first = await room.ask("POST", path, {"note": "I look at the fans"})
    assert (first.status_code, first.json()["new"]) == (200, True)
    again = await room.ask("POST", path)
    assert again.json()["new"] is False
    assert [each["note"] for each in again.json()["acknowledgements"]] == ["I look at the fans"]
    with capture_logs() as said:
        other = await room.ask("POST", path, {"person": "bob"})
    assert [(each["event"], each["person"], each["key"]) for each in said] == [
        ("acknowledged_for", "bob", "ann")
    ]
    assert [each["person"] for each in other.json()["acknowledgements"]] == ["ann", "bob"]
    assert rows(ledger_url, "SELECT state FROM escalations") == [("ENDED",)]
    missing = await room.ask("POST", f"/alerts/{'f' * 32}/acknowledge")
    assert (missing.status_code, missing.json()["title"]) == (404, "no_such_alert")


async def test_why_tells_what_is_recorded(room: Room) -> None:
    record(room.pool, HOT, message(HOT, "email", "desk@example.com"))
    await room.ask("POST", f"/alerts/{HOT.alert_id}/acknowledge")
    told = (await room.ask("GET", f"/alerts/{HOT.alert_id}/why")).json()
    assert [each["recipient"] for each in told["recipients"]] == ["desk@example.com"]
    assert any("acknowledged" in each["what"] for each in told["happened"])


async def test_why_tells_of_an_alert_that_was_set_aside(room: Room) -> None:
    Completeness(room.pool).keep_aside([HOT.alert_id])
    missing = await room.ask("GET", f"/alerts/{HOT.alert_id}/why")
    assert missing.status_code == 404
    assert "was set aside" in missing.json()["detail"]
    assert (await room.ask("GET", f"/alerts/{'f' * 32}/why")).status_code == 404


async def test_routes_are_reloaded_whole_or_not_at_all(room: Room) -> None:
    before = (await room.ask("GET", "/routes")).json()
    assert before["problems"] == []
    good = room.routes_file.read_text()
    room.routes_file.write_text(good.replace("email, to", "emial, to"))
    refused = await room.ask("POST", "/routes/reload")
    assert refused.status_code == 422
    assert "did you mean 'email'" in refused.json()["problems"][0]["reason"]
    assert refused.json()["problems"][0]["line"] == 8
    still = (await room.ask("GET", "/routes")).json()
    assert still["version_id"] == before["version_id"]
    assert still["problems"] == refused.json()["problems"]
    room.routes_file.write_text(good.replace("desk@", "night@"))
    after = (await room.ask("POST", "/routes/reload")).json()
    assert after["version_id"] != before["version_id"]
    assert after["problems"] == []


async def test_explain_tells_who_would_be_told_and_records_nothing(
    room: Room, ledger_url: str
) -> None:
    body = {"alert": HOT.model_dump(mode="json"), "at": "2026-11-21T12:00:00Z"}
    told = (await room.ask("POST", "/routes/explain", body)).json()
    assert told["routed_by"] == ["hot"]
    assert [each["recipient"] for each in told["told"]] == ["desk@example.com"]
    assert rows(ledger_url, "SELECT count(*) FROM alerts") == [(0,)]


async def test_two_presses_are_two_tests_and_one_key_is_one(room: Room) -> None:
    body = {"channel": "email", "recipient": "desk@example.com", "text": "hello"}
    made = [(await room.ask("POST", "/test-sends", body)).json() for _ in range(2)]
    keyed = [
        (await room.ask("POST", "/test-sends", body, idempotency_key="k")).json() for _ in range(2)
    ]
    ids = [each["alert_id"] for each in (*made, *keyed)]
    assert len(set(ids)) == 3
    assert ids == [each.alert_id for each in room.writer.alerts()]
    alert = room.writer.alerts()[0]
    assert (alert.watch, alert.summary, alert.labels["asked_by"]) == (TEST_SEND, "hello", "ann")
    assert made[0]["delivery_ids"] == [delivery_id(ids[0], "email", "desk@example.com")]
    assert made[0]["why"] == f"/alerts/{ids[0]}/why"


async def test_the_same_key_for_other_recipients_is_another_test(room: Room) -> None:
    told = [{"channel": "email", "recipient": each} for each in ("a@example.com", "b@example.com")]
    made = [(await room.ask("POST", "/test-sends", each, idempotency_key="k")) for each in told]
    for each, alert in zip(made, room.writer.alerts(), strict=True):
        page = each.json()
        assert page["told"] == alert.values["targets"]
        assert page["delivery_ids"] == [
            delivery_id(page["alert_id"], "email", page["told"][0]["recipient"])
        ]
    assert len({each.alert_id for each in room.writer.alerts()}) == 2


async def test_a_person_is_tested_on_the_channels_that_are_in_use(room: Room) -> None:
    room.routes_file.write_text(
        room.routes_file.read_text().replace(
            "people:",
            "people:\n  bob: {sms: '+4915112345678', email: bob@example.com}\n"
            "  eve: {sms: '+4915112345679'}",
        )
    )
    await room.ask("POST", "/routes/reload")
    bob = (await room.ask("POST", "/test-sends", {"person": "bob"})).json()
    assert bob["told"] == [{"channel": "email", "recipient": "bob@example.com"}]
    eve = await room.ask("POST", "/test-sends", {"person": "eve"})
    assert eve.status_code == 422
    assert "eve has no channel that is in use" in eve.json()["detail"]


async def test_a_person_or_a_route_can_be_tested(room: Room) -> None:
    person = (await room.ask("POST", "/test-sends", {"person": "ann"})).json()
    assert {each["channel"] for each in person["told"]} == {"email", "bus"}
    route = (await room.ask("POST", "/test-sends", {"route": "hot"})).json()
    assert route["told"] == [{"channel": "email", "recipient": "desk@example.com"}]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"channel": "email"},
        {"recipient": "desk@example.com"},
        {"channel": "email", "recipient": "nobody"},
        {"channel": "pigeon", "recipient": "x"},
        {"channel": "bus", "recipient": "alerts"},
        {"person": "zoe"},
        {"route": "none"},
        {"person": "ann", "route": "hot"},
        {"channel": "email", "recipient": "desk@example.com", "person": "ann"},
    ],
)
async def test_a_test_to_nobody_is_refused(room: Room, body: dict[str, str]) -> None:
    refused = await room.ask("POST", "/test-sends", body)
    assert refused.status_code == 422
    assert room.writer.written == []


async def test_without_a_key_nothing_opens_and_without_a_file_nobody_has_one(
    room: Room, pool: Pool, tmp_path: Path
) -> None:
    refused = await room.ask("GET", "/silences", authorization="Bearer wrong")
    assert (refused.status_code, "WWW-Authenticate" in refused.headers) == (401, True)
    closed = Room(pool, tmp_path / "closed.yaml", with_keys=False)
    answer = await closed.ask("GET", "/silences")
    assert answer.status_code == 403
    assert "python -m services.lookout keygen NAME" in answer.json()["detail"]
    assert "ALDEBARAN_OPERATOR_KEYS_FILE" in answer.json()["detail"]
    assert (await closed.ask("GET", "/healthz/live")).status_code == 200


async def test_while_a_store_is_away_the_answer_is_503_and_tells_no_address(
    room: Room, pool: Pool, tmp_path: Path
) -> None:
    room.writer.away = True
    answers = [await room.ask("POST", "/test-sends", {"person": "ann"})]
    pool.close()
    answers.append(await room.ask("GET", "/silences"))
    answers.append(await Room(pool, tmp_path / "r.yaml", opened=False).ask("GET", "/routes"))
    for answer in answers:
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) > 0
        assert "secret" not in answer.text


async def test_a_body_too_large_is_refused_before_it_is_read_to_its_end(room: Room) -> None:
    answer = await room.ask("POST", "/silences", content=b"x" * (1024 * 1024 + 1))
    assert (answer.status_code, answer.json()["title"]) == (413, "too_large")
    assert (await room.ask("PUT", "/silences")).status_code == 405
    assert (await room.ask("GET", "/nothing")).status_code == 404


async def test_who_has_no_key_is_told_before_a_body_is_read(room: Room) -> None:
    for path in ("/routes/explain", "/nothing"):
        answer = await room.ask("POST", path, content=b"no JSON", authorization="Bearer other")
        assert (answer.status_code, answer.headers["connection"]) == (401, "close")
    health = await room.ask("GET", "/healthz/live", authorization="")
    assert health.status_code == 200


async def test_the_description_shows_every_path_with_an_example(room: Room) -> None:
    described = (await room.ask("GET", "/openapi.json")).json()
    assert {"/silences", "/silences/preview", "/alerts/{alert_id}/why", "/routes/reload"} <= set(
        described["paths"]
    )
    for name in ("SilenceBody", "TrialBody", "AcknowledgeBody", "ExplainBody"):
        assert described["components"]["schemas"][name]["examples"], name


async def test_explain_says_whose_address_the_provider_has_dropped(
    room: Room, ledger_url: str
) -> None:
    settings = LedgerSettings.model_validate({"postgres_url": ledger_url})
    book = DroppedAddresses(settings, "email")
    await book.add(DroppedAddress("d1", "desk@example.com", "the provider dropped it", 1))
    await book.add(DroppedAddress("d2", "desk@example.com", "and the next one", 2))
    body = {"alert": HOT.model_dump(mode="json")}
    told = (await room.ask("POST", "/routes/explain", body)).json()["told"]
    assert [each["unreachable"] for each in told] == ["and the next one"]
    await book.remove("desk@example.com")
    told = (await room.ask("POST", "/routes/explain", body)).json()["told"]
    assert [each["unreachable"] for each in told] == [None]
