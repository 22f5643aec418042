"""What people do: allowed, done once, and noted; by pages and by the API."""

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import psycopg
import pytest
from httpx2 import Client
from pydantic import TypeAdapter

from services.backbone.errors import Refused
from services.backbone.ledger.database import Pool
from services.backbone.ledger.operators.silences import NewSilence, SilenceRow, Silences
from services.backbone.ledger.operators.words import Word
from services.backbone.web.problems import Problem
from services.console.deeds.deliveries import possible, say
from services.console.lookout import lookout_client
from services.console.pages.silences import SHOWN
from services.console.people.audit import Audit
from services.console.people.roles import Person, Role
from services.contracts.states import State
from services.machine.waiting import wait_until
from tests.integration.console.conftest import Console, running
from tests.integration.console.ledger_rows import add_alert, add_attempt, add_delivery

pytestmark = pytest.mark.postgres

ANN = Person("ann", Role.RESPONDER, "page")


def standing(url: str, delivery: str) -> tuple[str, bool]:
    with psycopg.connect(url) as connection:
        row = connection.execute(
            "SELECT state, marked_repeat FROM deliveries WHERE delivery_id = %s", (delivery,)
        ).fetchone()
    assert row
    return row[0], row[1]


def doubtful(url: str, state: State = State.IN_DOUBT) -> str:
    """Add a delivery that was tried once with an unknown outcome."""
    made = add_delivery(url, add_alert(url, "one"), state=state)
    add_attempt(url, made, 1, 0.02, 0.05, "IN_DOUBT")
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE deliveries SET attempt = 1")
    return made


@pytest.mark.parametrize("state", [State.IN_DOUBT, State.HELD])
@pytest.mark.parametrize(
    ("action", "after", "marked"),
    [
        ("arrived", State.SENT, False),
        ("absent", State.RETRY_WAIT, False),
        ("resend", State.RETRY_WAIT, True),
    ],
)
def test_a_doubt_ends_as_a_person_says(
    pool: Pool, ledger_url: str, state: State, action: str, after: State, marked: bool
) -> None:
    one = doubtful(ledger_url, state)
    assert action in possible(state, 1)
    assert say(pool, ANN, Word(one, action, "ann", "asked them"), "first")
    assert standing(ledger_url, one) == (after, marked)
    assert not say(pool, ANN, Word(one, action, "ann", "asked them"), "first")
    with pytest.raises(Refused):
        say(pool, ANN, Word(one, "resend", "ann", "again"), "second")
    with pytest.raises(Problem, match="something else"):
        say(pool, ANN, Word(one, "close", "ann", "again"), "first")
    noted = [(row.action, row.outcome.partition(":")[0]) for row in Audit(pool).newest(5)]
    assert noted == [("resend", "refused"), (action, "done")]


@pytest.mark.parametrize("state", State)
def test_only_what_is_offered_is_possible(pool: Pool, ledger_url: str, state: State) -> None:
    for number, action in enumerate(("arrived", "absent", "resend", "close")):
        one = add_delivery(ledger_url, add_alert(ledger_url, str(number)), state=state)
        add_attempt(ledger_url, one, 1, 0.02, 0.05, "IN_DOUBT")
        with psycopg.connect(ledger_url) as connection:
            connection.execute("UPDATE deliveries SET attempt = 1")
        try:
            said = say(pool, ANN, Word(one, action, "ann", "asked them"), None)
        except Refused:
            said = False
        assert said == (action in possible(state, 1)), action


def test_the_same_press_from_many_sides_is_done_once(pool: Pool, ledger_url: str) -> None:
    one = doubtful(ledger_url)
    word = Word(one, "resend", "ann", "unknown")
    with ThreadPoolExecutor(4) as threads:
        done = list(threads.map(lambda _: say(pool, ANN, word, "press"), range(8)))
    assert done.count(True) == 1
    with psycopg.connect(ledger_url) as connection:
        assert connection.execute("SELECT count(*) FROM words").fetchone() == (1,)


def test_a_person_resolves_by_the_page(console: Console, ledger_url: str) -> None:
    one = doubtful(ledger_url)
    with console.client("ann") as ann:
        page = ann.get(f"/deliveries/{one}").text
        form = dict(re.findall(r'name="(word|key)" value="([0-9a-f]+)"', page))
        assert set(form) == {"word", "key"}
        wrong = ann.post(f"/deliveries/{one}", data=form | {"action": "arrived", "why": " "})
        assert wrong.status_code == 422
        form |= {"action": "arrived", "why": "<b>seen</b>"}
        assert "done" in ann.post(f"/deliveries/{one}", data=form).text
        again = ann.post(f"/deliveries/{one}", data=form)
        assert "done before" in again.text
        assert "&lt;b&gt;seen" in again.text
        late = ann.post(f"/deliveries/{one}", data=form | {"key": "another"})
        assert (late.status_code, "somebody was quicker" in late.text) == (409, True)
        assert "You wrote: <bdi>&lt;b&gt;seen" in late.text
        assert ann.get("/deliveries/" + "0" * 32).status_code == 404
    assert standing(ledger_url, one)[0] == State.SENT


def test_the_api_says_when_somebody_was_quicker(console: Console, ledger_url: str) -> None:
    one = doubtful(ledger_url)
    with console.client("ann") as ann:
        found = re.search(r'name="word" value="([0-9a-f]+)"', ann.get("/").text)
        assert found
        headers = {"X-Form-Word": found[1], "Idempotency-Key": "1"}
        path, body = f"/v1/deliveries/{one}/word", {"action": "resend", "why": "unknown"}
        assert ann.post(path, json=body, headers=headers).json()["new"] is True
        assert ann.post(path, json=body, headers=headers).json()["new"] is False
        late = ann.post(path, json=body, headers=headers | {"Idempotency-Key": "2"})
        assert (late.status_code, late.json()["title"]) == (409, "not_waiting")
        none = ann.post(f"/v1/deliveries/{'0' * 32}/word", json=body, headers=headers)
        assert none.status_code == 404


class PlayedLookout:
    """Answers as the lookout does, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, str | None, str]] = []
        self.answer = httpx2.Response(200, json={})

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        key = request.headers.get("idempotency-key")
        self.asked.append((request.method, request.url.path, key, request.content.decode()))
        return self.answer


def stood(lasts: timedelta) -> dict[str, Any]:
    """Return the lookout's whole answer that it has made a silence."""
    now = datetime.now(UTC)
    made = SilenceRow("0" * 32, {}, now, now + lasts, "ann", "works", "api ann", now, None, None)
    told: dict[str, Any] = TypeAdapter(SilenceRow).dump_python(made, mode="json")
    return told


@pytest.fixture
def played() -> PlayedLookout:
    return PlayedLookout()


@pytest.fixture
def desk(pool: Pool, ledger_url: str, played: PlayedLookout) -> Iterator[Console]:
    transport = httpx2.MockTransport(played)
    with running(pool, ledger_url, lookout_client("http://lookout", "key", transport)) as made:
        yield made


def formed(client: Client, path: str, **fields: Any) -> httpx2.Response:
    """Send the form of a page with these fields."""
    hidden = dict(re.findall(r'name="(word|key)" value="([0-9a-f]+)"', client.get(path).text))
    return client.post(path, data=hidden | fields)


def test_a_silence_is_previewed_then_made(
    desk: Console, played: PlayedLookout, pool: Pool, ledger_url: str
) -> None:
    caught = add_alert(ledger_url, "one", summary="This one too")
    with desk.client("ann") as ann:
        played.answer = httpx2.Response(
            200,
            json={
                "alerts_looked_at": 9, "alerts_caught": 1, "deliveries_looked_at": 3,
                "deliveries_held_back": 2, "deliveries": [],
                "alerts": [{"alert_id": caught, "watch": "w", "severity": "info",
                            "summary": "This one too"}],
            },
        )  # fmt: skip
        fields = {"watch": "cpu*", "labels": "hall=north", "lasts": "2h", "reason": "works"}
        carried = {"left_out:1": "note", "left_out:2": "a\nb"}
        page = formed(ann, "/silences", what="preview", **fields, **carried).text
        assert "<bdi>note</bdi>, <bdi>a\nb</bdi></p>" in page
        assert 'name="left_out:2" value="a\nb"' in page
        assert "would have caught <b>1</b>" in page
        assert "This one too" in page
        assert 'value="cpu*"' in page
        played.answer = httpx2.Response(201, json=stood(timedelta(hours=2)))
        assert "silenced" in formed(ann, "/silences", what="silence", **fields).text
        (_, path, key, body) = played.asked[-1]
        assert path == "/silences"
        assert key
        assert '"author":"ann"' in body.replace(" ", "")
        assert '"hall":"north"' in body.replace(" ", "")
        assert Audit(pool).newest(1)[0].action == "silence"
        played.answer = httpx2.Response(
            422, json={"title": "bad_silence", "detail": "lasts: what is 2 moons?"}
        )
        refused = formed(ann, "/silences", what="silence", **fields)
        assert (refused.status_code, "2 moons" in refused.text) == (422, True)


def test_a_silence_begins_from_an_alert(desk: Console, ledger_url: str) -> None:
    alert = add_alert(ledger_url, "one", record={"labels": {"hall": "north", "none": None}})
    with desk.client("ann") as ann:
        page = ann.get(f"/alerts/{alert}/silence").text
        assert 'value="watch"' in page
        assert ">hall=north</textarea>" in page
        assert "No line can say" not in page


def test_a_silence_from_an_alert_names_the_labels_that_it_cannot_ask_for(
    desk: Console, played: PlayedLookout, ledger_url: str
) -> None:
    labels = {"rack": "rack[3]", "note": "two\nlines", "empty": "", "long": "x" * 500}
    many = {f"l{number}": "y" * 100 for number in range(28)}
    alert = add_alert(ledger_url, "one", record={"labels": labels | many})
    with desk.client("ann") as ann:
        page = ann.get(f"/alerts/{alert}/silence").text
        assert "<bdi>note</bdi>, <bdi>empty</bdi></p>" in page
        shown = re.search(r"<textarea[^>]*>([^<]*)</textarea>", page)
        assert shown
        assert "rack=rack[[]3]" in shown[1]
        played.answer = httpx2.Response(422, json={"title": "x", "detail": "y"})
        carried = dict(re.findall(r'name="(left_out:\d)" value="(\w+)"', page))
        assert list(carried.values()) == ["note", "empty"]
        again = formed(ann, "/silences", what="preview", labels=shown[1], lasts="1h", **carried)
        assert "<bdi>note</bdi>, <bdi>empty</bdi></p>" in again.text
        assert f">{shown[1]}</textarea>" in again.text
        asked = json.loads(played.asked[-1][3])["match"]["labels"]
        assert asked == {"rack": "rack[[]3]", "long": "x" * 500} | many
        asked_before = len(played.asked)
        for path in ("/silences", "/routes"):
            wrong = formed(ann, path, what="preview", watch="w", labels="no label", lasts="1h")
            assert (wrong.status_code, ">no label</textarea>" in wrong.text) == (422, True)
        assert len([each for each in played.asked[asked_before:] if each[0] == "POST"]) == 0


@pytest.mark.parametrize("path", ["/v1/silences", "/v1/silences/preview"])
@pytest.mark.parametrize(
    "body",
    [
        '{"match": {"watch": NaN}, "lasts": "1h"}',
        '{"match": {"labels": {"hall": "\\ud800"}}, "lasts": "1h"}',
        '{"match": {}, "lasts": "1h", "\\ud800": 1}',
    ],
)
def test_what_is_no_json_is_refused(desk: Console, path: str, body: str) -> None:
    with desk.client("ann") as ann:
        found = re.search(r'name="word" value="([0-9a-f]+)"', ann.get("/").text)
        assert found
        headers = {"X-Form-Word": found[1], "Content-Type": "application/json"}
        answer = ann.post(path, content=body, headers=headers)
        assert (answer.status_code, answer.json()["title"]) == (422, "bad_question")


def test_a_silence_that_lies_ahead_says_from_when(
    console: Console, pool: Pool, ledger_url: str
) -> None:
    now = datetime.now(UTC)
    times = {"ahead": (1, 2), "stands": (-1, 1), "over": (1, 2)}
    for number, (reason, (begins, ends)) in enumerate(times.items()):
        span = now + timedelta(hours=begins), now + timedelta(hours=ends)
        Silences(pool).create(
            NewSilence(str(number) * 32, {"watch": "w"}, *span, "ann", reason, "test")
        )
    Silences(pool).end("2" * 32, "ann")
    with console.client("ann") as ann:
        page = ann.get("/silences").text
    rows = re.findall(r'<span class="mark[^>]*>(\w+)</span>.*?<bdi>(\w+)</bdi> · (\w+)', page, re.S)
    told = {reason: (mark, word) for mark, reason, word in rows}
    assert told == {
        "ahead": ("ahead", "from"), "stands": ("stands", "until"), "over": ("over", "until"),
    }  # fmt: skip
    assert page.count("End now") == 2


def test_an_old_silence_that_stands_is_shown_behind_many_that_are_over(
    console: Console, pool: Pool
) -> None:
    now, made = datetime.now(UTC), Silences(pool)
    for number in range(SHOWN + 1):
        span = now - timedelta(hours=1), now + timedelta(days=90)
        silence = NewSilence(f"{number:032x}", {"watch": "w"}, *span, "ann", f"n{number}", "test")
        made.create(silence)
        if number:
            made.end(silence.silence_id, "ann")
    with console.client("ann") as ann:
        assert "<bdi>n0</bdi>" in ann.get("/silences").text


def test_a_test_is_sent_by_the_lookout(desk: Console, played: PlayedLookout) -> None:
    told = [{"channel": "email", "recipient": "ann@example.org"}]
    sent = {"alert_id": "a" * 32, "delivery_ids": ["b" * 32], "told": told}
    played.answer = httpx2.Response(202, json=sent)
    with desk.client("ann") as ann:
        page = formed(ann, "/test", channel="email", recipient="ann@example.org", severity="info")
        assert f"/alerts/{'a' * 32}" in page.text
        assert played.asked[-1][1] == "/test-sends"


@pytest.mark.parametrize(("status", "shown"), [(403, 502), (404, 404), (500, 502)])
def test_what_the_lookout_refuses_is_said(
    desk: Console, played: PlayedLookout, status: int, shown: int
) -> None:
    body = {"title": "x", "detail": "y"} if status != 500 else {}
    played.answer = httpx2.Response(status, json=body)
    with desk.client("ann") as ann:
        assert formed(ann, "/test", person="ann").status_code == shown


def test_a_lookout_that_is_away_is_a_problem(console: Console) -> None:
    with console.client("ann") as ann:
        page = formed(ann, "/test", person="ann")
        assert page.status_code == 503
        assert "the lookout does not answer" in page.text


def test_a_quiet_channel_whose_deliverers_are_dead_can_be_stopped(
    console: Console, ledger_url: str
) -> None:
    with console.client("boss", Role.ADMIN) as boss:
        said = "No deliverer is heard, and the ledger has no delivery yet."
        assert said in boss.get("/channels").text
        add_delivery(ledger_url, add_alert(ledger_url, "one"), channel="sms", state=State.SENT)
        page = boss.get("/channels").text
        assert "not seen</span>" in page
        assert "<b>sms</b>" in page
        assert ">runs<" not in page
        form = dict(re.findall(r'name="(word|key)" value="([0-9a-f]+)"', page))
        stop = {"what": "pause", "why": "the provider is down"}
        assert "the provider is down" in boss.post("/channels/sms", data=form | stop).text


def test_a_channel_is_stopped_once_and_goes_on(console: Console, ledger_url: str) -> None:
    add_delivery(ledger_url, add_alert(ledger_url, "one"), state=State.HELD)
    add_delivery(ledger_url, waits := add_alert(ledger_url, "two"), state=State.PENDING)
    with console.client("ann") as ann, console.client("boss", Role.ADMIN) as boss:
        wait_until(lambda: "<b>email</b>" in ann.get("/channels").text, 30, "no channel is shown")
        assert "placeholder" not in ann.get("/channels").text
        form = dict(
            re.findall(r'name="(word|key)" value="([0-9a-f]+)"', boss.get("/channels").text)
        )
        path, why = "/channels/email", {"what": "pause", "why": "the relay is moved"}
        assert boss.post(path, data=form | {"what": "pause"}).status_code == 422
        assert "the relay is moved" in boss.post(path, data=form | why).text
        page = ann.get(f"/alerts/{waits}").text
        assert "boss has stopped channel email" in page
        assert boss.post(path, data=form | why).status_code == 200
        from_there = {"Referer": f"{console.url}/channels"}
        late = boss.post(path, data=form | why | {"key": "another"}, headers=from_there)
        assert late.status_code == 409
        assert 'name="why" value="the relay is moved"' in late.text
        assert ann.get("/v1/channels/paused").json()[0]["person"] == "boss"
        word = {"X-Form-Word": form["word"]}
        assert boss.delete("/v1/channels/email/pause", headers=word).json()["stopped"] is False
        assert boss.delete("/v1/channels/email/pause", headers=word).status_code == 409
        again = boss.post("/v1/channels/email/pause", headers=word, json={"why": "again"})
        assert again.json() == {"channel": "email", "stopped": True, "new": True}
        denied = ann.post("/v1/channels/email/pause", json={"why": "no"})
        assert denied.status_code == 403
