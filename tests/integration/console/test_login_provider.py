"""Logging in by a provider, over real HTTP with signed tokens; and everything that is forged."""

import base64
import json
import re
from collections.abc import Callable, Iterator

import jwt
import pytest
from httpx2 import Client, Response

from services.backbone.clock import ManualClock, SystemClock
from services.backbone.ledger.database import Pool
from services.console.oidc.provider import Provider
from services.console.people.audit import Audit
from services.console.people.brake import by_address
from services.console.people.guests import Guests
from services.console.people.roles import Role
from tests.integration.console.conftest import TESTER, Console, running
from tests.integration.console.login_provider import (
    CLIENT_ID,
    Claims,
    Key,
    LoginProvider,
    login_provider,
    settings_for,
)

pytestmark = pytest.mark.postgres


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(SystemClock().now_ms())


@pytest.fixture
def provider(clock: ManualClock) -> Iterator[LoginProvider]:
    with login_provider() as made:
        made.clock = clock
        yield made


@pytest.fixture
def desk(
    pool: Pool, ledger_url: str, provider: LoginProvider, clock: ManualClock
) -> Iterator[Console]:
    def provided(url: str) -> Provider:
        return Provider(settings_for(provider, url), clock)

    with running(pool, ledger_url, open_to_readers=False, provided=provided) as made:
        yield made


def come(client: Client, back: str = "/") -> Response:
    """Log in by the provider, as a browser does that follows where it is led."""
    return client.get("/login/oidc", params={"next": back})


def led_back(client: Client) -> str:
    """Go to the provider, and return the address that it leads back to, which is not opened."""
    there = client.get("/login/oidc", follow_redirects=False).headers["location"]
    return str(client.get(there, follow_redirects=False).headers["location"])


def refusals(pool: Pool) -> list[str]:
    return [row.detail for row in Audit(pool).newest(50) if row.outcome == "refused"]


def test_somebody_comes_by_the_provider_and_leaves(
    desk: Console, provider: LoginProvider, pool: Pool
) -> None:
    with desk.client() as client:
        assert "Log in with Keyring" in client.get("/login?next=/todo").text
        page = come(client, "/todo?state=HELD")
        assert page.url.path == "/todo"
        assert ">ann@127.0.0.1</a>" in page.text
        cookie = page.history[-1].headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=lax" in cookie
        assert set(client.cookies) == {"aldebaran"}
        assert client.get("/users").status_code == 403
        assert "kept there" in client.get("/me").text
        word = re.search(r'name="word" value="([0-9a-f]{64})"', page.text)
        assert word
        out = client.post("/logout", data={"word": word[1]})
        assert out.url.path == "/logged-out"
        assert f"{provider.issuer}/out?x=1&amp;client_id=console" in out.text
        assert client.get("/todo").url.path == "/login"
    row = Audit(pool).newest(10)[-1]
    assert (row.person, row.role, row.outcome) == ("ann@127.0.0.1", "responder", "done")
    assert row.detail == "from 127.0.0.1 by oidc"


def test_the_role_is_the_providers_each_time_anew(desk: Console, provider: LoginProvider) -> None:
    for groups, status in ((["on-call"], 403), (["leads", "x"], 200), (["on-call"], 403)):
        provider.person["groups"] = groups
        with desk.client() as client:
            assert come(client).status_code == 200
            assert client.get("/audit").status_code == status


def test_who_has_no_role_is_told_what_to_do(
    desk: Console, provider: LoginProvider, pool: Pool
) -> None:
    provider.person["groups"] = ["canteen"]
    with desk.client() as client:
        page = come(client)
        assert page.status_code == 403
        assert "you are ann@127.0.0.1, and nothing in `groups` gives you a role" in page.text
        assert client.get("/").url.path == "/login"
    assert refusals(pool) == ["from 127.0.0.1 by oidc: no role"]
    assert desk.users.page() == []


def test_groups_may_stand_on_the_page_about_people(desk: Console, provider: LoginProvider) -> None:
    del provider.person["groups"]
    provider.about = {"sub": "u-1", "groups": ["leads"]}
    with desk.client() as client:
        come(client)
        assert client.get("/audit").status_code == 200
    provider.about = {"sub": "u-2", "groups": ["leads"]}
    with desk.client() as client:
        assert come(client).status_code == 401


Lie = Callable[[Claims], Claims]
LIES: dict[str, Lie] = {
    "of another provider": lambda claims: claims | {"iss": "https://evil.example"},
    "for another client": lambda claims: claims | {"aud": "wiki"},
    "shared with another": lambda claims: claims | {"aud": [CLIENT_ID, "wiki"]},
    "of another party": lambda claims: claims | {"azp": "wiki"},
    "over": lambda claims: claims | {"iat": claims["iat"] - 600, "exp": claims["iat"] - 90},
    "of the future": lambda claims: claims | {"iat": claims["iat"] + 300},
    "not yet": lambda claims: claims | {"nbf": claims["iat"] + 300},
    "of another try": lambda claims: claims | {"nonce": "x" * 43},
    "of no try": lambda claims: {k: v for k, v in claims.items() if k != "nonce"},
    "endless": lambda claims: {k: v for k, v in claims.items() if k != "exp"},
    "of nobody": lambda claims: {k: v for k, v in claims.items() if k != "sub"},
}


@pytest.fixture(scope="module")
def other_key() -> Key:
    return Key()


def test_no_lie_opens_the_door(
    desk: Console, provider: LoginProvider, pool: Pool, other_key: Key
) -> None:
    signed = dict(LIES)
    for name, lie in signed.items():
        provider.tell = lie
        with desk.client() as client:
            assert come(client).status_code in (401, 429), name
            assert "aldebaran" not in client.cookies, name
        _forgive(desk)
    provider.tell = lambda claims: claims
    other_key.kid = provider.key.kid
    for name, sign in _forgeries(provider.key, other_key).items():
        provider.sign = sign
        with desk.client() as client:
            assert come(client).status_code == 401, name
            assert "aldebaran" not in client.cookies, name
        _forgive(desk)
    assert desk.users.page() == []
    assert len(refusals(pool)) == len(LIES) + len(_forgeries(provider.key, other_key))


def _forgeries(key: Key, other: Key) -> dict[str, Callable[[Claims], str]]:
    def unsigned(claims: Claims) -> str:
        return jwt.encode(claims, "", "none", {"kid": key.kid})

    def by_password(claims: Claims) -> str:
        # The library does not sign with a public key as password, so it is done by hand.
        head = _spelled(json.dumps({"alg": "HS256", "kid": key.kid}).encode())
        body = _spelled(json.dumps(claims).encode())
        mac = jwt.get_algorithm_by_name("HS256").sign(f"{head}.{body}".encode(), key.pem())
        return f"{head}.{body}.{_spelled(mac)}"

    def changed(claims: Claims) -> str:
        head, _, mac = key.sign(claims).split(".")
        body = _spelled(json.dumps(claims | {"groups": ["leads"]}).encode())
        return f"{head}.{body}.{mac}"

    def with_own_key(claims: Claims) -> str:
        return other.sign(claims, jwk=other.published(), jku="http://127.0.0.1:9/keys")

    return {
        "unsigned": unsigned,
        "the public key as a password": by_password,
        "changed": changed,
        "another key of that name": other.sign,
        "it brings its own key": with_own_key,
        "no token": lambda claims: "ey.ey.ey",
    }


def _spelled(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).decode().rstrip("=")


def _forgive(desk: Console) -> None:
    desk.brake.succeeded(by_address("127.0.0.1"))


def test_changed_keys_are_fetched_and_withdrawn_ones_open_nothing(
    desk: Console, provider: LoginProvider, clock: ManualClock
) -> None:
    old = provider.key
    with desk.client() as client:
        assert come(client).status_code == 200
    provider.key = Key()
    clock.move(11)
    with desk.client() as client:
        assert come(client).status_code == 200
    assert provider.asked.count("/keys") == 2
    provider.sign = old.sign
    with desk.client() as client:
        assert come(client).status_code == 401
    assert provider.asked.count("/keys") == 2


def test_an_answer_is_good_once_and_in_its_own_browser(
    desk: Console, provider: LoginProvider
) -> None:
    with desk.client() as ann, desk.client() as eve:
        back = led_back(ann)
        assert eve.get(back).status_code == 401
        come(eve)
        changed = back.replace("state=", "state=x")
        assert ann.get(changed).status_code == 401
        assert ann.get(back).status_code == 401, "its try ended with the changed answer"
        back = led_back(ann)
        kept = dict(ann.cookies)
        assert ann.get(back).status_code == 200
        assert ann.get(back).status_code == 401
        for name, value in kept.items():
            eve.cookies.set(name, value)
        assert eve.get(back).status_code == 401, "the code is worth nothing any more"
        assert provider.refused == ["invalid_grant"]


def test_what_the_provider_refuses_is_said(desk: Console, provider: LoginProvider) -> None:
    with desk.client() as client:
        back = led_back(client)
        state = re.search(r"state=[^&]+", back)
        assert state
        page = client.get(f"/login/oidc/callback?{state[0]}&error=access_denied<script>")
        assert page.status_code == 401
        assert "access_denied&lt;script&gt;" in page.text
        assert client.get("/login/oidc/callback").status_code == 401
        assert come(client, "//evil.example").url.path == "/"


def test_the_provider_away_keeps_nobody_with_a_password_out(
    desk: Console, provider: LoginProvider
) -> None:
    with desk.client() as client:
        back = led_back(client)
        provider.status = 500
        page = client.get(back)
        assert page.status_code == 503
        assert "Retry-After" in page.headers
        assert "the login provider does not answer" in page.text
    with desk.client("local", Role.VIEWER) as client:
        assert client.get("/").status_code == 200


def test_whom_the_console_has_closed_stays_out(
    desk: Console, provider: LoginProvider, pool: Pool
) -> None:
    name = "ann@127.0.0.1"
    with desk.client() as client:
        come(client)
        desk.users.close(TESTER, name)
        assert client.get("/").url.path == "/login"
        assert come(client).status_code == 403
        provider.person["sub"] = "u-2"
        assert "somebody else here" in come(client).text
        Guests(pool).forget(TESTER, name)
        assert come(client).status_code == 200


@pytest.mark.parametrize(
    "words",
    [
        {"issuer": "https://evil.example"},
        {"token_endpoint": "http://192.0.2.1/token"},
        {"jwks_uri": None},
    ],
)
def test_a_provider_that_is_not_the_one_is_not_asked(
    desk: Console, provider: LoginProvider, words: Claims
) -> None:
    provider.words = words
    with desk.client() as client:
        page = come(client)
        assert page.status_code == 502
        assert page.url.path == "/login/oidc"
