"""Logging in by a login provider that is not ours: Glewlwyd, as Debian ships it."""

from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from httpx2 import Client, Response

from services.backbone.clock import ManualClock, SystemClock
from services.backbone.ledger.database import Pool
from services.console.oidc.provider import Provider
from services.console.oidc.settings import OidcSettings
from services.console.people.audit import Audit
from services.console.people.roles import Role
from tests.integration.console.conftest import Console, running
from tests.integration.glewlwyd import CLIENT_ID, CLIENT_SECRET, GLEWLWYD, MISSING, Glewlwyd

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.skipif(not GLEWLWYD.exists(), reason=MISSING),
]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(SystemClock().now_ms())


Place = tuple[Console, Glewlwyd]


@pytest.fixture
def place(pool: Pool, ledger_url: str, clock: ManualClock) -> Iterator[Place]:
    started: list[Glewlwyd] = []

    def provided(url: str) -> Provider:
        made = Glewlwyd(f"{url}/login/oidc/callback")
        started.append(made)
        made.start()
        return Provider(
            OidcSettings(
                console_public_url=url,
                console_oidc_issuer=made.issuer,
                console_oidc_client_id=CLIENT_ID,
                console_oidc_client_secret=CLIENT_SECRET,
                console_oidc_scopes="openid",
                console_oidc_timeout_seconds=30,
                console_oidc_roles={"on-call": "responder", "leads": "admin"},
            ),
            clock,
        )

    try:
        with running(pool, ledger_url, open_to_readers=False, provided=provided) as console:
            yield console, started[0]
    finally:
        for each in started:
            each.stop()


def led_back(ours: Client, theirs: Client) -> str:
    """Go to the provider, where the person is known; return where it leads back to."""
    there = ours.get("/login/oidc?next=/todo", follow_redirects=False).headers["location"]
    # What its own page adds once the person has agreed.
    answer = theirs.get(f"{there}&{urlencode({'g_continue': ''})}")
    return str(answer.headers["location"])


def come(ours: Client, theirs: Client) -> Response:
    return ours.get(led_back(ours, theirs))


def test_people_of_a_real_provider(place: Place, pool: Pool, clock: ManualClock) -> None:
    console, provider = place
    ann, boss, guest = (
        provider.add(name, groups)
        for name, groups in (("ann", ["on-call", "x"]), ("boss", ["leads"]), ("guest", ["x"]))
    )
    with console.client() as ours:
        back = led_back(ours, ann)
        kept = dict(ours.cookies)
        page = ours.get(back)
        assert (page.status_code, page.url.path) == (200, "/todo")
        assert "ann@localhost" in page.text
        assert ours.get("/audit").status_code == 403
        ours.cookies.update(kept)
        assert ours.get(back).status_code == 401, "its code is worth nothing any more"
    with console.client() as ours:
        assert come(ours, boss).status_code == 200
        assert ours.get("/audit").status_code == 200
    with console.client() as ours:
        assert come(ours, guest).status_code == 403
    provider.change_keys()
    with console.client() as ours:
        clock.move(11)
        assert come(ours, ann).status_code == 200, "its new key is fetched"
        back = led_back(ours, ann)
        provider.end()
        assert ours.get(back).status_code == 503
    assert {user.name: user.role for user in console.users.all()} == {
        "ann@localhost": Role.RESPONDER,
        "boss@localhost": Role.ADMIN,
    }
    outcomes = [row.outcome for row in Audit(pool).newest(20) if row.action == "log in"]
    assert sorted(outcomes) == ["done"] * 3 + ["refused"] * 2
