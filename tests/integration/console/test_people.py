"""Logging in, roles, and what foreign pages cannot do."""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import environ

import psycopg
import pytest
from httpx2 import Client, Response

from services.backbone.ledger.database import Pool, transaction
from services.backbone.ledger.operators.acknowledgements import Acknowledgements
from services.backbone.ledger.operators.rehearsals import ask_on
from services.backbone.web.keys import ApiKey, Keys, key_hash
from services.console.deeds.alerts import acknowledge
from services.console.people.audit import Audit, Deed
from services.console.people.guests import Guests
from services.console.people.roles import Role
from services.console.people.sessions import Lifetimes, Sessions
from services.console.people.users import Users
from services.contracts.rehearsals import Rehearsal
from tests.integration.console.conftest import PASSWORD, TESTER, Console, running
from tests.integration.console.ledger_rows import add_alert
from tests.integration.console.test_users import THERE

pytestmark = pytest.mark.postgres


def word(page: Response) -> str:
    found = re.search(r'name="word" value="([0-9a-f]{64})"', page.text)
    assert found, page.text
    return found[1]


def test_whoever_acts_has_logged_in(console: Console, browser: Client, ledger_url: str) -> None:
    alert = add_alert(ledger_url, "one")
    assert "Log in" in browser.get(f"/alerts/{alert}").text
    assert browser.post(f"/alerts/{alert}/acknowledge").status_code == 401
    assert browser.post(f"/v1/alerts/{alert}/acknowledge").status_code == 401
    assert browser.get("/users").headers["location"] == "/login?next=%2Fusers"
    assert browser.get("/v1/audit").status_code == 401


def test_where_reading_is_not_open_pages_lead_to_the_login(pool: Pool, ledger_url: str) -> None:
    with running(pool, ledger_url, open_to_readers=False) as console, console.client() as stranger:
        for path in ("/", "/alerts?cursor=1", "/todo", "/silences"):
            page = stranger.get(path)
            assert page.url.path == "/login"
            assert "Password" in page.text
        assert stranger.get("/v1/alerts").status_code == 401
        assert stranger.get("/live").url.path == "/login"
        for path in ("/healthz/live", "/metrics"):
            assert stranger.get(path).status_code == 200
        with console.client("ann", Role.VIEWER) as ann:
            assert ann.get("/").status_code == 200


def test_logging_in_leads_back_and_out_again(console: Console) -> None:
    console.users.add(TESTER, "ann", PASSWORD, Role.VIEWER)
    with console.client() as client:
        assert 'value="/alerts?x=1"' in client.get("/login?next=/alerts?x=1").text
        form = {"name": "ann", "password": PASSWORD, "next": "/alerts"}
        page = client.post("/login", data=form)
        assert page.url.path == "/alerts"
        cookie = page.history[0].headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=lax" in cookie
        client.post("/logout", data={"word": word(page)})
        assert client.get("/me").text != ""
        assert not client.cookies.get(console.door.cookie)


@pytest.mark.parametrize("elsewhere", ["//evil.example", "https://evil.example", "/\\evil", "x"])
def test_nobody_is_led_elsewhere(console: Console, elsewhere: str) -> None:
    console.users.add(TESTER, "ann", PASSWORD, Role.VIEWER)
    with Client(base_url=console.url, timeout=60) as client:
        form = {"name": "ann", "password": PASSWORD, "next": elsewhere}
        assert client.post("/login", data=form).headers["location"] == "/"


def test_roles_allow_what_they_say(console: Console, ledger_url: str) -> None:
    alert = add_alert(ledger_url, "one")
    for role, acts, administers in (
        (Role.VIEWER, 403, 403),
        (Role.RESPONDER, 200, 403),
        (Role.ADMIN, 200, 200),
    ):
        with console.client(str(role), role) as client:
            given = {"word": word(client.get("/"))}
            answer = client.post(f"/alerts/{alert}/acknowledge", data=given)
            assert answer.status_code == acts
            assert client.get("/audit").status_code == administers
            assert client.get("/users").status_code == administers
            assert client.get("/v1/audit").status_code == administers


def test_a_form_of_another_session_or_site_does_nothing(console: Console, ledger_url: str) -> None:
    alert = add_alert(ledger_url, "one")
    path = f"/alerts/{alert}/acknowledge"
    with console.client("ann") as ann, console.client("bob") as bob:
        bobs = word(bob.get("/"))
        assert ann.post(path, data={"word": bobs}).status_code == 403
        assert ann.post(path).status_code == 403
        own = {"word": word(ann.get("/"))}
        foreign = {"Sec-Fetch-Site": "cross-site"}
        assert ann.post(path, data=own, headers=foreign).status_code == 403
        assert ann.post(f"/v1{path}").status_code == 403
        by_script = {"X-Form-Word": own["word"]}
        assert ann.post(f"/v1{path}", headers=by_script).status_code == 200
    with console.client() as stranger:
        form = {"name": "ann", "password": PASSWORD}
        assert stranger.post("/login", data=form, headers=foreign).status_code == 403


def test_an_operators_key_opens_the_api_as_a_responder(console: Console, ledger_url: str) -> None:
    alert = add_alert(ledger_url, "one")
    keys = Keys([ApiKey(name="robot", sha256=key_hash("secret"))], console.watcher.life.clock)
    object.__setattr__(console.door, "keys", keys)
    with console.client() as client:
        key = {"Authorization": "Bearer secret"}
        answer = client.post(f"/v1/alerts/{alert}/acknowledge", headers=key, json={"note": "mine"})
        told = {"alert_id": alert, "new": True, "noted": False, "first": "robot"}
        assert answer.json() == told
        assert client.get("/v1/audit", headers=key).status_code == 403
        wrong = {"Authorization": "Bearer wrong"}
        assert client.get("/v1/alerts", headers=wrong).status_code == 401


def test_a_closed_user_is_out_at_once(console: Console) -> None:
    with console.client("ann") as ann, console.client("boss", Role.ADMIN) as boss:
        assert "ann" in ann.get("/").text
        form = {"word": word(boss.get("/users")), "name": "ann", "what": "close"}
        assert boss.post("/users", data=form).status_code == 200
        assert "Log in" in ann.get("/").text
        form["name"] = "boss"
        answer = boss.post("/users", data=form)
        assert answer.status_code == 422
        assert "last admin" in answer.text


def test_a_new_user_who_is_refused_stands_in_the_form(console: Console) -> None:
    console.users.add(TESTER, "ann", PASSWORD, Role.VIEWER)
    with console.client("boss", Role.ADMIN) as boss:
        form = {"word": word(boss.get("/users")), "what": "add"}
        page = boss.post("/users", data=form | {"name": "ann", "role": "responder"})
        assert (page.status_code, THERE in page.text) == (422, True)
        assert 'name="name" value="ann" required' in page.text
        assert "<option selected>responder</option>" in page.text
        other = boss.post("/users", data=form | {"what": "role", "name": "nobody", "role": "admin"})
        assert 'name="name" value="" required' in other.text


@contextmanager
def left_alone(pool: Pool, ledger_url: str) -> Iterator[tuple[Client, Callable[[], object]]]:
    """Log somebody in who then does nothing for a while; give whom, and what tells the last use."""
    with (
        running(pool, ledger_url, open_to_readers=False) as console,
        console.client("ann") as ann,
        psycopg.connect(ledger_url, autocommit=True) as connection,
    ):
        connection.execute("UPDATE console_sessions SET seen_at = now() - interval '30 min'")
        yield ann, lambda: connection.execute("SELECT seen_at FROM console_sessions").fetchall()


def test_an_open_page_ends_with_its_session_and_does_not_prolong_it(
    pool: Pool, ledger_url: str
) -> None:
    with left_alone(pool, ledger_url) as (ann, seen_at):
        seen = seen_at()
        with ann.stream("GET", "/live") as live:
            chunks = live.iter_bytes()
            assert b"data:" in next(chunks)
            assert seen_at() == seen
            with transaction(pool) as connection:
                connection.execute("DELETE FROM console_sessions")
            assert all(chunks), "it goes on, and comes to an end"
        assert ann.get("/live").url.path == "/login"


def test_admins_make_users_whose_password_is_shown_once(console: Console) -> None:
    with console.client("boss", Role.ADMIN) as boss, console.client() as client:
        form = {"word": word(boss.get("/users")), "name": "new", "what": "add", "role": "viewer"}
        shown = re.search(r"shown only now: <code>([^<]+)", boss.post("/users", data=form).text)
        assert shown
        page = client.post("/login", data={"name": "new", "password": shown[1]})
        assert ">new</a>" in page.text
        given = {"word": word(page), "old": shown[1], "new": "another long one"}
        assert client.post("/me", data=given).status_code == 200
        assert client.post("/me", data=given).status_code == 403
        log = boss.get("/audit").text
        for deed in ("add user", "log in", "change password"):
            assert deed in log
        assert shown[1] not in log


def test_admins_let_people_in_and_out_by_the_api_too(console: Console) -> None:
    with console.client("boss", Role.ADMIN) as boss, console.client("ann") as ann:
        boss.headers["X-Form-Word"] = word(boss.get("/users"))
        made = boss.post("/v1/users", json={"name": "new", "role": "viewer"})
        assert made.status_code == 201
        first = made.json()["password"]
        renewed = boss.post("/v1/users/new/password").json()["password"]
        with console.client() as client:
            for password, name in ((first, ""), (renewed, ">new</a>")):
                login = {"name": "new", "password": password}
                assert name in client.post("/login", data=login).text
        assert boss.put("/v1/users/new/role", json={"role": "admin"}).json() == {"name": "new"}
        assert boss.post("/v1/users/ann/close").json() == {"name": "ann"}
        assert "Log in" in ann.get("/").text
        users = {each["name"]: each for each in boss.get("/v1/users").json()}
        assert users["new"]["role"] == "admin"
        assert users["ann"]["closed_at"]
        assert not any("password" in key for each in users.values() for key in each)
        for path in ("/v1/users/ann/close", "/v1/users/new/forget", "/v1/users/nobody/password"):
            assert boss.post(path).json()["title"] == "refused"
        del boss.headers["X-Form-Word"]
        assert boss.post("/v1/users/new/close").status_code == 403
        noted = {row["action"] for row in boss.get("/v1/audit").json()}
        assert noted >= {"add user", "reset password", "change role", "close user"}


def test_the_old_password_is_guessed_no_quicker_than_at_the_login(
    console: Console, pool: Pool
) -> None:
    with console.client("ann") as ann:
        given = {"word": word(ann.get("/me")), "old": "wrong", "new": "another long one"}
        said = [ann.post("/me", data=given) for _ in range(6)]
        assert [each.status_code for each in said] == [422] * 5 + [429]
        assert "the old password does not fit" in said[0].text
        assert said[-1].headers["retry-after"]
        assert "too many failures" in said[-1].text
        assert ann.post("/me", data=given | {"old": PASSWORD}).status_code == 429
    noted = [(row.person, row.action, row.outcome) for row in Audit(pool).newest(5)]
    assert noted == [("ann", "change password", "refused")] * 5


def test_a_key_changes_no_password(console: Console) -> None:
    console.users.add(TESTER, "robot", PASSWORD, Role.RESPONDER)
    keys = Keys([ApiKey(name="robot", sha256=key_hash("secret"))], console.watcher.life.clock)
    object.__setattr__(console.door, "keys", keys)
    with console.client() as client:
        key = {"Authorization": "Bearer secret"}
        given = {"old": PASSWORD, "new": "another long one"}
        assert client.post("/me", data=given, headers=key).status_code == 403


def test_a_rehearsals_page_left_open_does_not_prolong_its_session(
    pool: Pool, ledger_url: str
) -> None:
    with transaction(pool) as connection:
        ask_on(connection, "a" * 32, "ann", "mine", Rehearsal(new="name: mine"))
    with left_alone(pool, ledger_url) as (ann, seen_at):
        seen = seen_at()
        assert ann.get(f"/rehearsals/{'a' * 32}/part").status_code == 200
        assert seen_at() == seen


def test_a_session_ends_by_time_and_by_being_left_alone(pool: Pool, ledger_url: str) -> None:
    Users(pool).add(TESTER, "ann", PASSWORD, Role.VIEWER)
    token = Sessions(pool).open("ann")
    with psycopg.connect(ledger_url, autocommit=True) as connection:
        assert Sessions(pool, Lifetimes(idle_seconds=600)).find(token) is not None
        connection.execute("UPDATE console_sessions SET seen_at = now() - interval '11 min'")
        assert Sessions(pool, Lifetimes(idle_seconds=600)).find(token) is None
        assert Sessions(pool).find(token) is not None
        connection.execute("UPDATE console_sessions SET ends_at = now()")
        assert Sessions(pool).find(token) is None
    assert Sessions(pool).find("x" * 1000) is None
    assert Sessions(pool).find("") is None


@pytest.mark.parametrize("idle_seconds", [30.0, 60.0, 119.0, 3600.0])
def test_a_session_in_use_lasts_however_short_the_idle_time(
    pool: Pool, ledger_url: str, idle_seconds: float
) -> None:
    Users(pool).add(TESTER, "ann", PASSWORD, Role.VIEWER)
    sessions = Sessions(pool, Lifetimes(idle_seconds=idle_seconds))
    token, alone = sessions.open("ann"), sessions.open("ann")
    later = "UPDATE console_sessions SET seen_at = seen_at - make_interval(secs => %s)"
    with psycopg.connect(ledger_url, autocommit=True) as connection:
        for _ in range(4):  # each a third of the idle time after the one before
            connection.execute(later, (idle_seconds / 3,))
            assert sessions.find(token) is not None
    assert sessions.find(alone) is None


def test_the_ledger_holds_neither_passwords_nor_tokens(pool: Pool, ledger_url: str) -> None:
    Users(pool).add(TESTER, "ann", PASSWORD, Role.VIEWER)
    token = Sessions(pool).open("ann")
    with psycopg.connect(ledger_url) as connection:
        kept = str(connection.execute("SELECT * FROM console_users").fetchall())
        kept += str(connection.execute("SELECT * FROM console_sessions").fetchall())
    assert "argon2id" in kept
    assert PASSWORD not in kept
    assert token not in kept


CHANGES: dict[str, Callable[[Pool, str], object]] = {
    "add user": lambda pool, _: Users(pool).add(TESTER, "bob", PASSWORD, Role.VIEWER),
    "reset password": lambda pool, _: Users(pool).set_password(
        TESTER, "another long one", Deed("reset password", "ann")
    ),
    "change role": lambda pool, _: Users(pool).set_role(TESTER, "ann", Role.ADMIN),
    "close user": lambda pool, _: Users(pool).close(TESTER, "ann"),
    "forget user": lambda pool, _: Guests(pool).forget(TESTER, "guest"),
    "acknowledge": lambda pool, alert: acknowledge(pool, TESTER, alert, ""),
}


@pytest.mark.parametrize("action", CHANGES)
def test_nothing_changes_without_its_line_in_the_audit_log(
    pool: Pool, ledger_url: str, action: str
) -> None:
    users, alert = Users(pool), add_alert(ledger_url, "one")
    users.add_first("admin", PASSWORD)
    users.add(TESTER, "ann", PASSWORD, Role.VIEWER)
    Guests(pool).arrive("https://login.example", "u-1", "guest", Role.VIEWER)
    before = users.page()
    with psycopg.connect(ledger_url, autocommit=True) as connection:
        connection.execute(
            "ALTER TABLE audit_log ADD CONSTRAINT none CHECK (action = '') NOT VALID"
        )
        with pytest.raises(psycopg.errors.CheckViolation):
            CHANGES[action](pool, alert)
        assert users.page() == before
        assert Acknowledgements(pool).of(alert) == ()
        connection.execute("ALTER TABLE audit_log DROP CONSTRAINT none")
    CHANGES[action](pool, alert)
    assert Audit(pool).newest(1)[0].action == action


def test_users_by_the_command_line(pool: Pool, ledger_url: str) -> None:
    def command(*arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "services.console", "user", *arguments],
            env=environ | {"ALDEBARAN_POSTGRES_URL": ledger_url},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    made = command("add", "ann", "--role", "admin").stdout
    assert re.fullmatch(r"ann may log in with the password \S{20}\n", made)
    assert command("list").stdout == "ann: admin\n"
    again = command("add", "ann", "--role", "admin")
    assert (again.returncode, again.stderr) == (1, f"{THERE}\n")
    noted = [(row.action, row.outcome) for row in Audit(pool).newest(10)]
    assert noted == [("add user", f"refused: {THERE}"), ("add user", "done")]
