"""Trying a watch by page, API and command line; what tries it is played, the ledger is real."""

import io
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from httpx2 import Client

from services.aldebaran.__main__ import carry_out, parser
from services.aldebaran.client import CommandSettings, console_client
from services.backbone.clock import ManualClock, SystemClock
from services.backbone.errors import Refused, Transient
from services.backbone.ledger.database import Pool
from services.backbone.ledger.operators.rehearsals import Rehearsals
from services.backbone.web.keys import ApiKey, Keys, key_hash
from services.console.people.roles import Role
from services.contracts.declarations import FILE_LIMIT_BYTES
from services.contracts.records import Severity
from services.contracts.rehearsals import Answer, Course, Looked, Raised
from services.contracts.watches import SHIPPED_WATCHES
from tests.integration.console.conftest import Console

pytestmark = pytest.mark.postgres

LIVE = (SHIPPED_WATCHES / "over-purchase.yaml").read_text()
CHANGED = LIVE.replace("limit: 24 hours", "limit: 12 hours")
OWN = CHANGED.replace("watch: over-purchase", "watch: mine")
COURSE = Course(alerts=2, rows=5, malformed=1, seconds=2.5)


def raised(name: str, by: str) -> Raised:
    return Raised.model_validate(
        {
            "alert_id": name * 32,
            "by": by,
            "severity": Severity.CRITICAL,
            "summary": f"Found <{name}>",
            "key": {"name": name},
            "appended_at_ms": 1,
            "times": 2,
        }
    )


ANSWER = Answer(
    watch="over-purchase",
    looked=Looked(since_ms=1000, until_ms=2000, events=90, wanted=100),
    new=COURSE,
    live=COURSE.model_copy(update={"cut": "stopped after 60 s: take a shorter span"}),
    counts={"new": 1, "live": 1, "both": 9},
    raised=(raised("a", "new"), raised("b", "live"), raised("c", "both")),
)


@pytest.fixture
def keyed(console: Console) -> Console:
    """A console that takes an operator's key."""
    keys = Keys([ApiKey(name="ann", sha256=key_hash("secret"))], console.watcher.life.clock)
    object.__setattr__(console.door, "keys", keys)
    return console


@pytest.fixture
def api(keyed: Console) -> Iterator[Client]:
    headers = {"Authorization": "Bearer secret"}
    with Client(base_url=keyed.url, headers=headers, timeout=60) as client:
        yield client


def answer(pool: Pool, told: Answer | str) -> None:
    """Answer the oldest question in the program's stead."""
    book = Rehearsals(pool)
    taken = book.take("played", 60)
    assert taken is not None
    if isinstance(told, str):
        book.fail(taken, "played", told)
    else:
        book.answer(taken, "played", told)


def test_a_change_is_tried_by_the_page(console: Console, pool: Pool) -> None:
    with console.client("ann") as page:
        form = page.get("/rehearsals?watch=over-purchase").text
        assert "watch: over-purchase" in form
        word = form.split('name="word" value="')[1].split('"')[0]
        fields = {"word": word, "key": "k", "watch": CHANGED, "since": "2h"}
        first, again = (page.post("/rehearsals", data=fields) for _ in range(2))
        assert first.url == again.url
        assert "It waits for its turn" in first.text
        assert "<del>-  limit: 24 hours" in first.text
        assert "<ins>+  limit: 12 hours" in first.text
        assert len(Rehearsals(pool).newest(50).rows) == 1
        answer(pool, ANSWER)
        part = page.get(f"{first.url.path}/part").text
        for said in (
            "Found &lt;a&gt;", "only the new one", "only the live one", "and 8 more",
            "holds 100 events; the newest 90", "live version was stopped after 60 s",
        ):  # fmt: skip
            assert said in part
        assert "hx-trigger" not in part
        assert first.url.path in page.get("/rehearsals").text


def test_a_table_as_large_as_any_is_tried_by_the_page(console: Console, pool: Pool) -> None:
    rules = "," * FILE_LIMIT_BYTES
    with console.client("ann") as page:
        word = page.get("/rehearsals").text.split('name="word" value="')[1].split('"')[0]
        page.post("/rehearsals", data={"word": word, "watch": OWN, "rules": rules, "since": "1h"})
    (stored,) = Rehearsals(pool).newest(5).rows
    whole = Rehearsals(pool).one(stored.rehearsal_id)
    assert whole is not None
    assert whole.rehearsal.rules == rules


def test_a_table_that_is_too_large_is_refused_and_lines_are_those_of_a_file(
    console: Console, pool: Pool
) -> None:
    with console.client("ann") as page:
        word = page.get("/rehearsals").text.split('name="word" value="')[1].split('"')[0]
        form = {"word": word, "watch": OWN, "since": "1h"}
        large = page.post("/rehearsals", data=form | {"rules": "," * (FILE_LIMIT_BYTES + 1)})
        assert large.status_code == 422
        assert f"over {FILE_LIMIT_BYTES} characters; make it live first" in large.text
        page.post("/rehearsals", data=form | {"rules": "a,b\r\n1,2\r\n"})
    (stored,) = Rehearsals(pool).newest(5).rows
    whole = Rehearsals(pool).one(stored.rehearsal_id)
    assert whole is not None
    assert whole.rehearsal.rules == "a,b\n1,2\n"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"watch": CHANGED.replace("severity: critical", "severity: loud")}, "watch.yaml, line 59"),
        ({"watch": "a: &a [1]\n" + "b: [*a, *a]\n" * 20}, "over 16 aliases"),
        ({"watch": "[" * 2000}, "nested over 64 deep"),
        ({"watch": "nothing"}, "watch.yaml"),
        ({"since": "8d"}, "at most 7 days"),
        ({"since": "soon"}, "not a span of time"),
    ],
)
def test_what_cannot_be_tried_is_refused_with_the_line(
    console: Console, pool: Pool, changed: dict[str, str], said: str
) -> None:
    with console.client("ann") as page:
        word = page.get("/rehearsals").text.split('name="word" value="')[1].split('"')[0]
        fields = {"word": word, "watch": CHANGED, "since": "1h"} | changed
        refused = page.post("/rehearsals", data=fields)
    assert refused.status_code == 422
    assert said in refused.text
    assert not Rehearsals(pool).newest(50).rows


def test_a_viewer_looks_and_does_not_ask(console: Console) -> None:
    with console.client("vera", Role.VIEWER) as page:
        form = page.get("/rehearsals")
        assert form.status_code == 200
        assert "<textarea" not in form.text
        word = page.get("/me").text.split('name="word" value="')[1].split('"')[0]
        assert page.post("/rehearsals", data={"word": word, "watch": LIVE}).status_code == 403


def test_programs_ask_by_the_api(api: Client, pool: Pool) -> None:
    body = {"watch": OWN, "rules": "a,b\n1,2\n", "since": "30m"}
    asked = api.post("/v1/rehearsals", json=body, headers={"Idempotency-Key": "k"})
    assert asked.status_code == 202, asked.text
    same = api.post("/v1/rehearsals", json=body, headers={"Idempotency-Key": "k"})
    other = api.post("/v1/rehearsals", json={"watch": LIVE}, headers={"Idempotency-Key": "k"})
    path = f"/v1/rehearsals/{asked.json()['rehearsal_id']}"
    assert same.json() == asked.json()
    assert other.status_code == 409
    shown = api.get(path).json()
    assert (shown["state"], shown["span_seconds"], shown["changed"]) == ("ASKED", 1800, [])
    (stored,) = Rehearsals(pool).newest(5).rows
    whole = Rehearsals(pool).one(stored.rehearsal_id)
    assert whole is not None
    assert (whole.rehearsal.live, whole.rehearsal.rules) == (None, "a,b\n1,2\n")
    answer(pool, ANSWER)
    assert api.get(path).json()["answer"]["counts"] == {"new": 1, "live": 1, "both": 9}
    assert api.get(f"/v1/rehearsals/{'0' * 32}").status_code == 404


def test_too_many_are_refused(api: Client) -> None:
    codes = [api.post("/v1/rehearsals", json={"watch": LIVE}).status_code for _ in range(11)]
    assert codes == [202] * 10 + [409]


def test_the_command_line_waits_and_shows(keyed: Console, pool: Pool, tmp_path: Path) -> None:
    file = tmp_path / "over-purchase.yaml"
    file.write_text(CHANGED)
    answered = threading.Thread(target=answer_when_asked, args=(pool, ANSWER))
    answered.start()
    shown = run(keyed, "watch", "try", str(file))
    answered.join()
    assert "\n-  limit: 24 hours " in shown
    assert "\n+  limit: 12 hours " in shown
    assert "of 100 events the newest 90 were read\n" in shown
    assert "2 alerts; the live one 2: 9 by both, 1 only by the new one, 1 only by" in shown
    assert "+ critical Found <a> (found 2x)\n- critical Found <b> (found 2x)\n" in shown
    file.write_text(CHANGED.replace("severity: critical", "severity: loud"))
    with pytest.raises(Refused, match=r"over-purchase.yaml, line 59"):
        run(keyed, "watch", "try", str(file))
    file.write_text(CHANGED)
    with pytest.raises(Transient, match=r"still waits; does services\.rehearsal run"):
        run(keyed, "watch", "try", str(file), "--wait", "5", clock=ManualClock())


def run(console: Console, *arguments: str, clock: ManualClock | SystemClock | None = None) -> str:
    settings = CommandSettings.model_validate(
        {"console_url": console.url, "operator_key": "secret"}
    )
    out, client = io.StringIO(), console_client(settings)
    with closing(client):
        carry_out(parser().parse_args(arguments), client, clock or SystemClock(), out)
    return out.getvalue()


def answer_when_asked(pool: Pool, told: Answer) -> None:
    while not Rehearsals(pool).newest(1).rows:
        threading.Event().wait(0.05)
    answer(pool, told)
