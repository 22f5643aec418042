"""The page of a link: looking changes nothing, pressing acknowledges once."""

from dataclasses import dataclass, field
from datetime import UTC, datetime

import httpx2
import pytest
from starlette.applications import Starlette
from structlog.testing import capture_logs

from services.backbone.clock import ManualClock
from services.backbone.errors import Transient
from services.backbone.ledger.operators.acknowledgements import (
    Acknowledged,
    Acknowledgement,
    Shown,
    Via,
)
from services.backbone.seldom import EVERY_SECONDS
from services.backbone.web.links import Links
from services.callbacks.acknowledge import AcknowledgePage

ALERT, DELIVERY = "a" * 32, "d" * 32
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


@dataclass
class MemoryKept:
    """A ledger with one delivery."""

    summary: str = "the hall is hot"
    words: list[Acknowledgement] = field(default_factory=list)
    away: bool = False

    def shown(self, delivery_id: str) -> Shown | None:
        if self.away:
            raise Transient("Postgres: postgresql://secret@host is away")
        if delivery_id != DELIVERY:
            return None
        told = ("email", "ann@example.com", "over-heat", "critical", self.summary)
        return Shown(delivery_id, ALERT, *told, NOW, self.words[0].at if self.words else None)

    def of(self, alert_id: str) -> tuple[Acknowledgement, ...]:
        assert alert_id == ALERT
        return tuple(self.words)

    def acknowledge(
        self, alert_id: str, *, person: str, via: Via, note_text: str = ""
    ) -> Acknowledged:
        new = person not in [word.person for word in self.words]
        if new:
            self.words.append(Acknowledgement(person, via, note_text, NOW))
        return Acknowledged(new, self.of(alert_id))


@dataclass
class Door:
    kept: MemoryKept = field(default_factory=MemoryKept)
    clock: ManualClock = field(default_factory=ManualClock)
    links: Links = field(default_factory=lambda: Links({"k": b"s" * 32}, days=1))

    def __post_init__(self) -> None:
        self.page = AcknowledgePage(self.links, self.kept, self.clock)

    async def ask(self, method: str, token: str) -> httpx2.Response:
        transport = httpx2.ASGITransport(Starlette(routes=[self.page.route()]))
        async with httpx2.AsyncClient(transport=transport, base_url="http://door") as client:
            return await client.request(method, f"/acknowledge/{token}")

    def token(self, delivery: str = DELIVERY) -> str:
        return self.links.token(delivery, self.clock.now_ms())


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_looking_never_acknowledges(method: str) -> None:
    door = Door()
    for _ in range(3):
        answer = await door.ask(method, door.token())
        assert answer.status_code == 200
    assert door.kept.words == []
    if method == "GET":
        assert "the hall is hot" in answer.text
        assert answer.text.count("<button") == 1
        assert "<script" not in answer.text


async def test_pressing_acknowledges_and_pressing_again_says_so() -> None:
    door = Door()
    first = await door.ask("POST", door.token())
    assert (first.status_code, "Acknowledged" in first.text) == (200, True)
    again = await door.ask("POST", door.token())
    assert "Already acknowledged" in again.text
    assert [(word.person, word.via) for word in door.kept.words] == [("ann@example.com", "link")]
    looked = await door.ask("GET", door.token())
    assert "ann@example.com" in looked.text
    assert "<button" not in looked.text


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_forged_expired_and_unknown_links_say_what_to_do(method: str) -> None:
    door = Door()
    forged = await door.ask(method, Links({"k": b"x" * 32}).token(DELIVERY, 0))
    assert (forged.status_code, "open it from the message again" in forged.text) == (403, True)
    unknown = await door.ask(method, door.token("f" * 32))
    assert (unknown.status_code, "not in our ledger" in unknown.text) == (404, True)
    token = door.token()
    door.clock.move(86_401)
    expired = await door.ask(method, token)
    assert (expired.status_code, "newer message" in expired.text) == (410, True)
    assert door.kept.words == []


async def test_strangers_write_a_line_a_minute_and_not_one_a_request() -> None:
    door, forged = Door(), Links({"k": b"x" * 32}).token(DELIVERY, 0)
    with capture_logs() as told:
        for _ in range(100):
            await door.ask("GET", forged)
        door.clock.move(EVERY_SECONDS)
        await door.ask("GET", forged)
    assert [(each["event"], each["left_out"]) for each in told] == [
        ("link_forged", 0),
        ("link_forged", 99),
    ]


@pytest.mark.parametrize(
    ("method", "said"),
    [("POST", "not known whether this was acknowledged"), ("GET", "cannot be shown now")],
)
async def test_a_ledger_that_is_away_is_said_without_its_address(method: str, said: str) -> None:
    door = Door(MemoryKept(away=True))
    answer = await door.ask(method, door.token())
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
    assert said in answer.text
    assert "Nothing was acknowledged" not in answer.text
    assert "secret" not in answer.text


async def test_what_an_alert_says_cannot_become_part_of_the_page() -> None:
    door = Door(MemoryKept(summary="<script>alert(1)</script>"))
    answer = await door.ask("GET", door.token())
    assert "<script" not in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["cache-control"] == "no-store"


async def test_other_methods_are_refused() -> None:
    door = Door()
    assert (await door.ask("DELETE", door.token())).status_code == 405
    assert door.kept.words == []
