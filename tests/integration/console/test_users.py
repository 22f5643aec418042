"""Users: made, changed, closed and listed, but for the last admin."""

import psycopg
import pytest

from services.backbone.errors import Refused
from services.backbone.ledger.database import Pool
from services.console.people.guests import Guests
from services.console.people.roles import Role
from services.console.people.users import Users
from tests.integration.console.conftest import PASSWORD, TESTER, Console

pytestmark = pytest.mark.postgres

THERE = "there is a user ann already; where their password was not shown, give them a new one"


def test_the_first_admin_is_made_once(pool: Pool, ledger_url: str) -> None:
    users = Users(pool)
    assert users.add_first("admin", PASSWORD)
    assert not users.add_first("other", PASSWORD)
    with pytest.raises(Refused, match="last admin"):
        users.set_role(TESTER, "admin", Role.VIEWER)
    for bad in ("Ann", "", "a b", "x" * 64):
        with pytest.raises(Refused, match="a name has"):
            users.add(TESTER, bad, PASSWORD, Role.VIEWER)
    with pytest.raises(Refused, match="12 to 256"):
        users.add(TESTER, "ann", "short", Role.VIEWER)


def test_where_no_local_admin_is_a_local_user_can_be_closed_and_changed(pool: Pool) -> None:
    users = Users(pool)
    Guests(pool).arrive("https://id.example.com", "s-1", "ann@id.example.com", Role.ADMIN)
    for name in ("bob", "carl"):
        users.add(TESTER, name, PASSWORD, Role.RESPONDER)
    users.close(TESTER, "bob")
    users.set_role(TESTER, "carl", Role.VIEWER)
    found = [users.find(name) for name in ("bob", "carl")]
    assert [each and (each.role, each.closed_at is None) for each in found] == [
        ("responder", False), ("viewer", True),
    ]  # fmt: skip
    for name in ("bob", "nobody"):
        with pytest.raises(Refused, match="there is no user"):
            users.close(TESTER, name)
    users.set_role(TESTER, "carl", Role.ADMIN)
    with pytest.raises(Refused, match="last admin"):
        users.close(TESTER, "carl")


def test_users_beyond_one_page_are_found(console: Console, ledger_url: str) -> None:
    with console.client("zoe", Role.ADMIN) as client:
        with psycopg.connect(ledger_url) as connection:
            connection.execute(
                "INSERT INTO console_users (name, role, made_by, issuer, subject) SELECT"
                " 'a b' || n, 'viewer', 'oidc', 'https://id.example.com', n::text"
                " FROM generate_series(1000, 1999) n"
            )
        first = client.get("/users")
        assert "<b>zoe</b>" not in first.text
        assert "/users?after=a%20b1999" in first.text
        second = client.get("/users?after=a%20b1999")
        assert "<b>zoe</b>" in second.text
        assert "/users?after=" not in second.text
        asked: dict[str, str | int] = {"after": "a b1998", "limit": 2}
        assert [each["name"] for each in client.get("/v1/users", params=asked).json()] == [
            "a b1999", "zoe",
        ]  # fmt: skip
    assert [each.name for each in console.users.all()][999:] == ["a b1999", "zoe"]


def test_a_closed_user_is_added_again_with_a_new_password_only(console: Console) -> None:
    new, sessions = f"{PASSWORD}-new", console.door.sessions
    with console.client("ann") as ann, console.client("boss", Role.ADMIN) as boss:
        console.users.close(TESTER, "ann")
        late = sessions.open("ann")
        assert "closed; may be added again" in boss.get("/users").text
        console.users.add(TESTER, "ann", new, Role.VIEWER)
        assert "Log in" in ann.get("/").text
        assert sessions.find(late) is None, "it was opened while they were being closed"
        for password, status in ((PASSWORD, 401), (new, 200)):
            given = {"name": "ann", "password": password}
            assert ann.post("/login", data=given).status_code == status
        made = console.users.find("ann")
        assert made is not None
        assert (made.role, made.made_by, made.closed_at) == (Role.VIEWER, TESTER.name, None)
    with pytest.raises(Refused, match=THERE):
        console.users.add(TESTER, "ann", PASSWORD, Role.ADMIN)
