"""The console as a browser sees it, on a real Postgres."""

import html
import re
import signal
import subprocess
import sys
from os import environ

import psycopg
import pytest
from httpx2 import Client, TransportError, get

from services.contracts.states import State
from services.machine.ports import free_ports
from services.machine.waiting import wait_until
from tests.integration.console.conftest import Console
from tests.integration.console.ledger_rows import add_alert, add_attempt, add_delivery

pytestmark = pytest.mark.postgres

HOSTILE = "<script>alert(1)</script> \"quoted\" 'too' & {{ 7 * 7 }}"


def shown(browser: Client, text: str) -> str:
    """Return the first page as soon as it shows a text."""

    def page() -> str:
        return browser.get("/").text

    wait_until(lambda: text in page(), 30, f"the page does not show {text}")
    return page()


def test_the_page_shows_alerts_and_what_waits(browser: Client, ledger_url: str) -> None:
    alert = add_alert(ledger_url, "one", summary="Much too much")
    add_delivery(ledger_url, alert, recipient="desk@example.org", state=State.SENT)
    add_delivery(ledger_url, alert, recipient="night@example.org", state=State.IN_DOUBT)
    page = shown(browser, "night@example.org")
    assert f'<a class="summary" href="/alerts/{alert}"><bdi>Much too much</bdi></a>' in page
    assert "in doubt or held, oldest" in page
    assert "email to <bdi>night@example.org</bdi>" in page
    assert re.search(r'id="channel-email".*?<td class="number bad">1 <small>', page, re.S)


def test_the_page_lives(console: Console, browser: Client, ledger_url: str) -> None:
    shown(browser, "No alert yet.")
    with browser.stream("GET", "/live") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = answer.iter_lines()
        alert = add_alert(ledger_url, "one", summary="Just now")
        seen = next(line for line in lines if alert in line)
        assert seen.startswith("data: ")
    wait_until(lambda: console.board.followers == 0, 30, "still followed")


def test_a_page_for_which_there_is_no_place_is_told_so(
    console: Console, browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.console.live.FOLLOWERS_LIMIT", 0)
    told = browser.get("/live")
    assert (told.status_code, "too many pages are open" in told.text) == (503, True)
    assert console.board.followers == 0


def test_programs_are_looked_at(console: Console, browser: Client) -> None:
    console.parts["itself"] = console.url
    shown(browser, ">not ready</span>")
    console.watcher.life.health.add_ready("all", lambda: None)
    console.parts["nobody"] = f"http://127.0.0.1:{free_ports(1)[0]}"
    page = shown(browser, "1 <small>of 2 ready")
    assert "answer: does not answer" in page


def test_an_empty_ledger_is_a_page_too(browser: Client) -> None:
    shown(browser, "No alert yet.")


def test_older_alerts_are_one_click_away_and_stand_still(browser: Client, ledger_url: str) -> None:
    for number in range(60):
        add_alert(ledger_url, str(number), accepted=number, summary=f"Number {number}.")
    first = browser.get("/alerts").text
    assert "Number 10." in first
    assert "Number 9." not in first
    link = re.search(r'href="(/alerts\?cursor=[^"]+)"', first)
    assert link
    second = browser.get(html.unescape(link[1])).text
    assert "Number 9." in second
    assert "Older alerts" not in second


def test_an_alert_has_a_timeline_in_milliseconds(browser: Client, ledger_url: str) -> None:
    alert = add_alert(ledger_url, "one", record={"event_ids": ["e-17", "e-18"]})
    delivery = add_delivery(ledger_url, alert, state=State.SENT)
    add_attempt(ledger_url, delivery, 1, 0.02, 0.05, "SENT")
    page = browser.get(f"/alerts/{alert}").text
    moments = re.findall(r"\+(\d+) ms</span>.*?<b>(\w+)</b>", page, re.S)
    assert moments == [
        ("0", "appended"), ("4", "detected"), ("10", "accepted"), ("20", "claimed"), ("50", "sent"),
    ]  # fmt: skip
    assert "e-17" in page
    assert "e-18" in page
    assert "by auditor a" in page


def test_an_alert_shows_whole_numbers_of_any_size(browser: Client, ledger_url: str) -> None:
    values = {"small": 3, "large": 10**40, "several": [2**64]}
    alert = add_alert(ledger_url, "one", record={"values": values})
    page = browser.get(f"/alerts/{alert}")
    assert page.status_code == 200
    assert str(10**40) in page.text
    assert str(2**64) in page.text
    assert browser.get(f"/v1/alerts/{alert}").json()["record"]["values"] == values


def test_what_waits_is_shown_with_its_reason_and_end(browser: Client, ledger_url: str) -> None:
    alert = add_alert(ledger_url, "one")
    silenced = "silenced by ann: works"
    delivery = add_delivery(ledger_url, alert, state=State.SUPPRESSED, reason=silenced)
    with psycopg.connect(ledger_url) as connection:
        connection.execute("UPDATE deliveries SET next_attempt_at = '2026-11-21T12:00:00Z'")
        connection.execute(
            "INSERT INTO decisions (alert_id, delivery_id, at, stage, decided, why)"
            " VALUES (%s, %s, %s, 'sweep', 'SUPPRESSED', %s)",
            (alert, delivery, "2026-11-21T10:00:00Z", silenced),
        )
    page = browser.get(f"/alerts/{alert}").text
    assert f"<bdi>not sent: {silenced}, until 2026-11-21 12:00:00Z</bdi>" in page
    assert re.search(
        rf"suppressed</b> <span [^>]*><bdi>email to desk@example.org: {silenced}", page
    )


def test_hostile_texts_stay_texts(browser: Client, ledger_url: str) -> None:
    record = {"key": {HOSTILE: HOSTILE}, "event_ids": [HOSTILE], "auditor": HOSTILE}
    alert = add_alert(ledger_url, "one", summary=HOSTILE, record={**record, "values": {"v": [1]}})
    add_delivery(ledger_url, alert, recipient=HOSTILE, state=State.HELD, reason=HOSTILE)
    shown(browser, alert)
    for path in ("/", "/alerts", f"/alerts/{alert}", f"/alerts/{HOSTILE}"):
        page = browser.get(path)
        assert "<script>" not in page.text
        assert HOSTILE not in page.text
        assert "49" not in re.findall(r"&amp; (\S+)", page.text)
        assert "default-src 'none'" in page.headers["content-security-policy"]
    assert browser.get("/v1/alerts").json()["rows"][0]["summary"] == HOSTILE


@pytest.mark.parametrize("path", ["/", "/v1/alerts", "/nothing", "/healthz/live", "/static/x/y"])
def test_every_answer_is_safe_for_a_browser(browser: Client, path: str) -> None:
    headers = browser.get(path).headers
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"


def test_pages_load_only_their_own_files(browser: Client) -> None:
    page = shown(browser, "No alert yet.")
    loaded = re.findall(r'(?:<script[^>]* src|<link[^>]*href)="([^"#]+)"', page)
    assert {each.rpartition("/")[2] for each in loaded} == {
        "icon.svg", "style.css", "htmx.min.js", "hx-sse.min.js", "console.js",
    }  # fmt: skip
    for path in loaded:
        answer = browser.get(path)
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
    assert not re.search(r"<[^>]* (style|on[a-z]+)=", page)
    assert not re.search(r"<script(?![^>]* src=)", page)


def test_the_api_pages_through_alerts(browser: Client, ledger_url: str) -> None:
    made = [add_alert(ledger_url, str(n), accepted=n) for n in range(5)]
    first = browser.get("/v1/alerts?limit=3").json()
    assert [each["alert_id"] for each in first["rows"]] == made[:1:-1]
    rest = browser.get("/v1/alerts", params={"limit": 3, "cursor": first["next_cursor"]}).json()
    assert [each["alert_id"] for each in rest["rows"]] == made[1::-1]
    assert rest["next_cursor"] is None


def test_the_api_shows_one_alert_and_deliveries_by_state(browser: Client, ledger_url: str) -> None:
    alert = add_alert(ledger_url, "one")
    held = add_delivery(ledger_url, alert, recipient="a", state=State.HELD, reason="no answer")
    add_delivery(ledger_url, alert, recipient="b", state=State.SENT)
    assert browser.get(f"/v1/alerts/{alert}").json()["alert"]["alert_id"] == alert
    (row,) = browser.get("/v1/deliveries?state=HELD").json()["rows"]
    assert (row["delivery_id"], row["reason"]) == (held, "no answer")
    both = browser.get("/v1/deliveries?state=HELD&state=SENT").json()["rows"]
    assert len(both) == len(browser.get("/v1/deliveries").json()["rows"]) == 2


@pytest.mark.parametrize(
    ("path", "status", "reason"),
    [
        ("/v1/alerts?limit=0", 422, "bad_question"),
        ("/v1/alerts?limit=100000", 422, "bad_question"),
        ("/v1/alerts?cursor=x", 422, "bad_cursor"),
        ("/v1/alerts/" + "0" * 32, 404, "no_such_alert"),
        ("/v1/alerts/x", 422, "bad_question"),
        ("/v1/deliveries?state=LOST", 422, "bad_question"),
        ("/v1/nothing", 404, "no_such_page"),
    ],
)
def test_a_bad_question_gets_problem_details(
    browser: Client, path: str, status: int, reason: str
) -> None:
    answer = browser.get(path)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert (answer.json()["title"], answer.json()["status"]) == (reason, status)


def test_a_foreign_name_for_this_machine_is_refused(browser: Client) -> None:
    assert browser.get("/v1/alerts", headers={"Host": "evil.example"}).status_code == 400


def test_the_api_describes_itself(browser: Client) -> None:
    paths = browser.get("/openapi.json").json()["paths"]
    assert {"/v1/alerts", "/v1/deliveries/{delivery_id}/word", "/v1/silences"} <= set(paths)
    assert all(path.startswith("/v1/") for path in paths)


def test_the_program_is_reached_without_its_ledger_waits_for_it_and_ends_cleanly(
    ledger_url: str, postgres_url: str
) -> None:
    port = free_ports(1)[0]
    settings = {"ALDEBARAN_POSTGRES_URL": ledger_url, "ALDEBARAN_HTTP_PORT": str(port)}
    command = [sys.executable, "-m", "services.console"]
    name = ledger_url.rpartition("/")[2]
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        process = subprocess.Popen(command, env=environ | settings)
        wait_until(lambda: status(port, "/healthz/live") == 200, 60, "not live")
        wait_until(lambda: "does not answer" in text(port, "/"), 60, "nothing is said")
        wait_until(lambda: status(port, "/healthz/ready") == 200, 60, "nobody is let in")
        assert status(port, "/v1/alerts") == 503
        connection.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
    wait_until(lambda: "No alert yet." in text(port, "/"), 60, "no page")
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 0


def text(port: int, path: str) -> str:
    try:
        return get(f"http://127.0.0.1:{port}{path}", timeout=30).text
    except TransportError:
        return ""


def status(port: int, path: str) -> int:
    try:
        return get(f"http://127.0.0.1:{port}{path}", timeout=30).status_code
    except TransportError:
        return 0


def test_other_machines_reach_it_by_https_only() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "services.console"],
        env=environ | {"ALDEBARAN_HTTP_HOST": "0.0.0.0"},  # noqa: S104 - that is what is refused
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert ended.returncode == 78
    assert b"https://" in ended.stderr
