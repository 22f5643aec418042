"""The console as a browser sees it, on a real Postgres."""

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
from tests.integration.console.ledger_rows import add_alert, add_attempt, add_delivery

pytestmark = pytest.mark.postgres

HOSTILE = "<script>alert(1)</script> \"quoted\" 'too' & {{ 7 * 7 }}"


def test_the_page_shows_alerts_and_what_is_open(browser: Client, ledger_url: str) -> None:
    alert = add_alert(ledger_url, "one", summary="Much too much")
    add_delivery(ledger_url, alert, recipient="desk@example.org", state=State.SENT)
    add_delivery(ledger_url, alert, recipient="night@example.org", state=State.IN_DOUBT)
    page = browser.get("/").text
    assert f'<a class="summary" href="/alerts/{alert}"><bdi>Much too much</bdi></a>' in page
    assert "1 in doubt" in page
    assert re.search(r"<b>in doubt</b>, .* old:\nemail to <bdi>night@example.org</bdi>", page)
    assert '<meta http-equiv="refresh" content="5">' in page
    assert "no login yet: this machine only" in page


def test_an_empty_ledger_is_a_page_too(browser: Client) -> None:
    assert "No alert yet." in browser.get("/").text


def test_older_alerts_are_one_click_away_and_stand_still(browser: Client, ledger_url: str) -> None:
    for number in range(60):
        add_alert(ledger_url, str(number), accepted=number, summary=f"Number {number}.")
    first = browser.get("/").text
    assert "Number 10." in first
    assert "Number 9." not in first
    link = re.search(r'href="(/\?cursor=[^"]+)"', first)
    assert link
    second = browser.get(link[1]).text
    assert "Number 9." in second
    assert "refresh" not in second
    assert "Older alerts" not in second


def test_an_alert_has_a_timeline_in_milliseconds(browser: Client, ledger_url: str) -> None:
    alert = add_alert(ledger_url, "one", record={"event_ids": ["e-17", "e-18"]})
    delivery = add_delivery(ledger_url, alert, state=State.SENT)
    add_attempt(ledger_url, delivery, 1, 0.02, 0.05, "SENT")
    page = browser.get(f"/alerts/{alert}").text
    moments = re.findall(r"\+(\d+) ms</td><td>(\w+)", page)
    assert moments == [
        ("0", "appended"), ("4", "detected"), ("10", "accepted"), ("20", "claimed"), ("50", "sent"),
    ]  # fmt: skip
    assert "e-17" in page
    assert "e-18" in page
    assert "by auditor a" in page


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
    assert f"<bdi>{silenced}</bdi> · until 2026-11-21 12:00:00.000Z" in page
    assert re.search(rf"suppressed <span [^>]*><bdi>email to desk@example.org: {silenced}", page)


def test_hostile_texts_stay_texts(browser: Client, ledger_url: str) -> None:
    record = {"key": {HOSTILE: HOSTILE}, "event_ids": [HOSTILE], "auditor": HOSTILE}
    alert = add_alert(ledger_url, "one", summary=HOSTILE, record={**record, "values": {"v": [1]}})
    add_delivery(ledger_url, alert, recipient=HOSTILE, state=State.HELD, reason=HOSTILE)
    for path in ("/", f"/alerts/{alert}", f"/alerts/{HOSTILE}"):
        page = browser.get(path)
        assert "<script" not in page.text
        assert "49" not in re.findall(r"&amp; (\S+)", page.text)
        assert "default-src 'none'" in page.headers["content-security-policy"]
    assert browser.get("/v1/alerts").json()["rows"][0]["summary"] == HOSTILE


@pytest.mark.parametrize("path", ["/", "/style.css", "/v1/alerts", "/nothing", "/healthz/live"])
def test_every_answer_is_safe_for_a_browser(browser: Client, path: str) -> None:
    headers = browser.get(path).headers
    assert headers["content-security-policy"].startswith("default-src 'none'; style-src 'self'")
    assert headers["x-content-type-options"] == "nosniff"


def test_pages_load_only_their_own_style(browser: Client) -> None:
    page = browser.get("/").text
    assert re.findall(r'(?:src|<link[^>]*href)="([^"]+)"', page) == ["/style.css"]
    assert " style=" not in page
    assert "prefers-color-scheme: dark" in browser.get("/style.css").text


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
    assert set(browser.get("/openapi.json").json()["paths"]) == {
        "/v1/alerts",
        "/v1/alerts/{alert_id}",
        "/v1/deliveries",
    }


def test_the_program_waits_for_its_ledger_and_ends_cleanly(
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
        assert status(port, "/healthz/ready") == 503
        assert status(port, "/v1/alerts") == 503
        assert status(port, "/") == 503
        connection.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
    wait_until(lambda: status(port, "/healthz/ready") == 200, 60, "not ready")
    assert status(port, "/") == 200
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 0


def status(port: int, path: str) -> int:
    try:
        return get(f"http://127.0.0.1:{port}{path}", timeout=30).status_code
    except TransportError:
        return 0


def test_any_other_address_is_refused() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "services.console"],
        env=environ | {"ALDEBARAN_HTTP_HOST": "0.0.0.0"},  # noqa: S104 - that is what is refused
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert ended.returncode == 78
    assert b"ALDEBARAN_HTTP_HOST" in ended.stderr
