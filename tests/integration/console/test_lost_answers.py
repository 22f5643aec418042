"""An answer of the lookout that is lost: the same press again is the same deed, and noted once."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import Path

import httpx2
import pytest
from httpx2 import Client, Response

from services.backbone.errors import Transient
from services.backbone.kafka.producer import ProducerSettings
from services.backbone.ledger.database import Pool
from services.backbone.ledger.operators.silences import Silences
from services.backbone.service import HttpServer
from services.backbone.web.client import OperatorSettings
from services.console.lookout import TIMEOUT_SECONDS, lookout_client
from services.console.people.audit import Audit
from services.machine.ports import free_ports
from tests.integration.console.conftest import Console, running
from tests.integration.lookout.api_rooms import Room

pytestmark = pytest.mark.postgres

SILENCE = {"watch": "cpu*", "lasts": "2h", "reason": "works"}


class Losing(httpx2.HTTPTransport):
    """Loses answers of the lookout, after it has done what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.loses = False

    def handle_request(self, request: httpx2.Request) -> Response:
        answer = super().handle_request(request)
        if self.loses:
            answer.close()
            raise httpx2.ReadTimeout("timed out", request=request)
        return answer


@dataclass
class Place:
    """A console, the lookout behind it, and what is lost between them."""

    console: Console
    room: Room
    between: Losing

    def lost(self, ann: Client, path: str, form: dict[str, str]) -> Response:
        """Press, and lose the answer."""
        self.between.loses = True
        answer = ann.post(path, data=form)
        self.between.loses = False
        assert answer.status_code == 503
        return answer


@pytest.fixture
def place(pool: Pool, ledger_url: str, tmp_path: Path) -> Iterator[Place]:
    room, between, port = Room(pool, tmp_path / "routes.yaml"), Losing(), free_ports(1)[0]
    lookout = lookout_client(f"http://127.0.0.1:{port}", room.key, between)
    with (
        HttpServer(room.app, "127.0.0.1", port),
        running(pool, ledger_url, lookout) as console,
    ):
        yield Place(console, room, between)


def hidden(page: Response) -> dict[str, str]:
    """Return what a page's form carries unseen."""
    return dict(re.findall(r'name="(word|key)" value="([0-9a-f]+)"', page.text))


def kept(page: Response) -> dict[str, str]:
    """Return the fields of the button that does the same press again."""
    form = page.text.partition('<form method="post" id="again">')[2].partition("</form>")[0]
    pairs = re.findall(r'name="([^"]*)" value="([^"]*)"', form)
    return {name: unescape(value) for name, value in pairs}


def deeds(pool: Pool) -> list[str]:
    return [each.action for each in Audit(pool).newest(50) if each.person == "ann"]


def test_whoever_asks_waits_longer_than_who_is_asked() -> None:
    brokers = ProducerSettings().producer_timeout_seconds
    assert brokers < TIMEOUT_SECONDS < OperatorSettings().operator_timeout_seconds


def test_a_silence_is_made_once(place: Place, pool: Pool) -> None:
    with place.console.client("ann") as ann:
        form = hidden(ann.get("/silences")) | SILENCE | {"what": "silence"}
        again = place.lost(ann, "/silences", form)
        assert hidden(again) == hidden(ann.get("/silences")) | {"key": form["key"]}
        preview = ann.post("/silences", data=hidden(again) | SILENCE | {"what": "preview"})
        done = ann.post("/silences", data=hidden(preview) | SILENCE | {"what": "silence"})
        assert "silenced" in done.text
        assert hidden(done)["key"] != form["key"]
    assert [each.author for each in Silences(pool).newest().rows] == ["ann"]
    assert deeds(pool).count("silence") == 1


def test_another_silence_after_a_lost_answer_is_no_silent_repeat(place: Place, pool: Pool) -> None:
    with place.console.client("ann") as ann:
        form = hidden(ann.get("/silences")) | SILENCE | {"what": "silence"}
        again = place.lost(ann, "/silences", form)
        longer = SILENCE | {"what": "silence", "lasts": "3h"}
        told = ann.post("/silences", data=hidden(again) | longer)
        (made,) = Silences(pool).newest().rows
        assert (told.status_code, made.silence_id in told.text) == (409, True)
        assert hidden(told)["key"] != form["key"]
        assert "silenced" in ann.post("/silences", data=hidden(told) | longer).text
    assert len(Silences(pool).newest().rows) == 2


def test_a_press_that_comes_again_when_its_silence_is_over_is_told_so(
    place: Place, pool: Pool
) -> None:
    with place.console.client("ann") as ann:
        form = hidden(ann.get("/silences")) | SILENCE | {"what": "silence"}
        again = place.lost(ann, "/silences", form)
        (made,) = Silences(pool).newest().rows
        Silences(pool).end(made.silence_id, "bob")
        told = ann.post("/silences", data=hidden(again) | SILENCE | {"what": "silence"})
        assert (told.status_code, "that is over" in told.text) == (409, True)
        form = hidden(told) | SILENCE | {"what": "silence"}
        assert "silenced" in ann.post("/silences", data=form).text
    assert len(Silences(pool).standing()) == 1


def test_a_test_is_sent_once(place: Place, pool: Pool) -> None:
    with place.console.client("ann") as ann:
        form = hidden(ann.get("/test")) | {"person": "ann", "severity": "info", "text": "hello"}
        again = place.lost(ann, "/test", form)
        assert hidden(again)["key"] == form["key"]
        first, second = form | hidden(again), form | hidden(again) | {"text": "and this"}
        for each in (first, second, second):
            assert "sent" in ann.post("/test", data=each).text
    assert len({each.alert_id for each in place.room.writer.alerts()}) == 2
    assert deeds(pool).count("test-send") == 2


@pytest.mark.parametrize(
    ("path", "typed"),
    [
        ("/test", {"person": "ann", "severity": "info", "text": 'say "hello"\r\n& more'}),
        ("/silences", SILENCE | {"what": "silence", "labels": "host=a\r\nzone=b"}),
    ],
)
def test_what_the_ledger_did_not_note_is_done_once_all_the_same(
    place: Place, pool: Pool, monkeypatch: pytest.MonkeyPatch, path: str, typed: dict[str, str]
) -> None:
    with place.console.client("ann") as ann:
        form = hidden(ann.get(path)) | typed
        with monkeypatch.context() as away:
            away.setattr(Audit, "note", no_ledger)
            failed = ann.post(path, data=form)
        assert (failed.status_code, kept(failed)) == (503, form)
        assert "That is safe" in failed.text
        assert ann.post(path, data=kept(failed)).status_code == 200
    silences = {each.silence_id for each in Silences(pool).newest().rows}
    assert len(silences | {each.alert_id for each in place.room.writer.alerts()}) == 1
    assert len([each for each in deeds(pool) if each in ("silence", "test-send")]) == 1


def no_ledger(*_: object) -> None:
    raise Transient("no route to postgres.internal")


def test_a_silence_is_ended_once_by_its_person(place: Place, pool: Pool) -> None:
    with place.console.client("ann") as ann, place.console.client("bob") as bob:
        made = hidden(ann.get("/silences")) | SILENCE | {"what": "silence"}
        ann.post("/silences", data=made)
        (silence,) = Silences(pool).newest().rows
        path, form = f"/silences/{silence.silence_id}/end", hidden(ann.get("/silences"))
        place.lost(ann, path, form)
        assert deeds(pool).count("end silence") == 0
        for _ in range(2):
            assert "ended by ann" in ann.post(path, data=form).text
        late = bob.post(path, data=hidden(bob.get("/silences")))
        assert late.status_code == 404
    assert deeds(pool).count("end silence") == 1
    assert Silences(pool).newest().rows[0].ended_by == "ann"
