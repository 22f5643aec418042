"""A provider that is slow, too large, away or talks nonsense: each has its end and its words."""

import base64
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest

from services.backbone.clock import ManualClock
from services.backbone.web.problems import Problem
from services.console.oidc.provider import (
    ANSWER_LIMIT_BYTES,
    KEYS_AGAIN_SECONDS,
    KEYS_FRESH_SECONDS,
    Provider,
    Refusal,
)
from services.console.oidc.settings import OidcSettings

ISSUER = "https://id.example"
PAGES = {
    "issuer": ISSUER,
    "authorization_endpoint": f"{ISSUER}/authorize",
    "token_endpoint": f"{ISSUER}/token",
    "jwks_uri": f"{ISSUER}/keys",
}
SETTINGS = OidcSettings(
    console_public_url="https://console.example",
    console_oidc_issuer=ISSUER,
    console_oidc_client_id="a b",
    console_oidc_client_secret="c&d",
    console_oidc_default_role="viewer",
    console_oidc_timeout_seconds=5,
)
Answering = Callable[[httpx2.Request], httpx2.Response]


@contextmanager
def asked(answering: Answering, **pages: Any) -> Iterator[tuple[Provider, ManualClock]]:
    """Give a provider whose pages other than the first are answered so."""

    def answer(request: httpx2.Request) -> httpx2.Response:
        if request.url.path.startswith("/.well-known"):
            return httpx2.Response(200, json=PAGES | pages)
        return answering(request)

    clock = ManualClock()
    provider = Provider(SETTINGS, clock, httpx2.MockTransport(answer))
    try:
        yield provider, clock
    finally:
        provider.close()


def away(_: httpx2.Request) -> httpx2.Response:
    raise httpx2.ConnectTimeout("nobody there")


def endless(_: httpx2.Request) -> httpx2.Response:
    return httpx2.Response(200, content=b" " * (ANSWER_LIMIT_BYTES + 1))


@pytest.mark.parametrize(
    ("answering", "status"),
    [
        (away, 503),
        (endless, 502),
        (lambda _: httpx2.Response(500), 503),
        (lambda _: httpx2.Response(429), 503),
        (lambda _: httpx2.Response(302, headers={"Location": "http://192.0.2.1/"}), 502),
        (lambda _: httpx2.Response(404, json={}), 502),
        (lambda _: httpx2.Response(401, json={}), 502),
        (lambda _: httpx2.Response(200, text="<html>"), 502),
        (lambda _: httpx2.Response(200, json=[1]), 502),
        (lambda _: httpx2.Response(200, json={"keys": {}}), 502),
    ],
)
def test_keys_that_do_not_come(answering: Answering, status: int) -> None:
    with asked(answering) as (provider, _), pytest.raises(Problem) as caught:
        provider.keys()
    assert caught.value.status == status
    assert "192.0.2.1" not in caught.value.detail


def test_an_answer_that_drips_has_an_end() -> None:
    times: list[ManualClock] = []

    def drops() -> Iterator[bytes]:
        for _ in range(1000):
            times[0].move(1)
            yield b" "

    with asked(lambda _: httpx2.Response(200, content=drops())) as (provider, clock):
        times.append(clock)
        with pytest.raises(Problem) as caught:
            provider.keys()
    assert caught.value.status == 503


def test_keys_are_kept_and_asked_for_again_not_too_often() -> None:
    count = 0

    def keys(_: httpx2.Request) -> httpx2.Response:
        nonlocal count
        count += 1
        return httpx2.Response(200, json={"keys": [{"kid": str(count)}, "no key"]})

    with asked(keys) as (provider, clock):
        assert provider.keys() == provider.keys() == ({"kid": "1"},)
        assert provider.keys(again=True) == ({"kid": "1"},)
        clock.move(KEYS_AGAIN_SECONDS + 1)
        assert provider.keys() == ({"kid": "1"},)
        assert provider.keys(again=True) == ({"kid": "2"},)
        clock.move(KEYS_FRESH_SECONDS + 1)
        assert provider.keys() == ({"kid": "3"},)


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
def test_our_secret_goes_the_way_the_provider_asks_for(method: str) -> None:
    def token(request: httpx2.Request) -> httpx2.Response:
        form = httpx2.QueryParams(request.content.decode())
        assert form["code"] == "x"
        assert form["code_verifier"] == "y"
        assert form["redirect_uri"] == "https://console.example/login/oidc/callback"
        by_form = form.get("client_secret") == "c&d"
        assert by_form == (method == "client_secret_post")
        basic = base64.b64encode(b"a+b:c%26d").decode()
        given = request.headers.get("Authorization")
        assert given == (None if by_form else f"Basic {basic}")
        return httpx2.Response(200, json={"id_token": "t"})

    supported = {"token_endpoint_auth_methods_supported": [method]}
    with asked(token, **supported) as (provider, _):
        assert provider.redeem("x", "y") == {"id_token": "t"}


@pytest.mark.parametrize(
    ("word", "kind"), [("invalid_grant", Refusal), ("invalid_client", Problem)]
)
def test_a_code_refused_is_the_persons_a_secret_refused_is_ours(
    word: str, kind: type[Exception]
) -> None:
    def refuse(_: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(400, json={"error": word})

    with asked(refuse) as (provider, _), pytest.raises(kind):
        provider.redeem("x", "y")
