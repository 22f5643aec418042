"""Where somebody goes on after a press that failed, or a login: on a page of this console."""

from types import SimpleNamespace
from typing import Any, Final

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request

from services.backbone.clock import SystemClock
from services.backbone.errors import Transient
from services.backbone.health import Health
from services.console.app import create_app
from services.console.people.door import Door
from services.console.people.way_back import local, login_path, pressed_on

HOST: Final = "localhost:18080"
ALERT: Final = f"/alerts/{'a' * 32}"
HERE: Final = f"http://{HOST}{ALERT}"


def pressed(referer: str | None) -> Request:
    """Return a press of which the browser names such a page."""
    named = [] if referer is None else [(b"referer", referer.encode("latin-1", "replace"))]
    head = {"type": "http", "method": "POST", "path": "/press", "query_string": b""}
    return Request(head | {"headers": [(b"host", HOST.encode()), *named]})


@given(st.text())
def test_the_way_back_stays_on_this_site(path: str) -> None:
    back = local(path)
    assert back.startswith("/")
    assert not back.startswith(("//", "/\\"))


@pytest.mark.parametrize(
    ("referer", "back"),
    [
        (HERE, ALERT),
        (f"https://{HOST}{ALERT}?said=you+have+won#there", ALERT),
        (f"http://{HOST}/", "/"),
        (f"http://{HOST}//evil.example/", "/"),
        (f"http://{HOST}/\\evil.example/", "/"),
        (None, ""),
        ("", ""),
        (ALERT, ""),
        (f"http://evil.example{ALERT}", ""),
        (f"http://localhost{ALERT}", ""),
        (f"http://{HOST}@evil.example{ALERT}", ""),
        (f"//{HOST}{ALERT}", ""),
        (f"javascript://{HOST}/%0aalert(1)", ""),
        ("http://[", ""),
        (f"http://{HOST}/login", ""),
        (f"http://{HOST}/login/oidc?next=/", ""),
        (f"http://{HOST}/logout", ""),
        (f"http://{HOST}/logged-out", ""),
    ],
)
def test_a_referer_counts_as_far_as_it_names_a_page_of_ours(referer: str | None, back: str) -> None:
    assert pressed_on(pressed(referer)) == back


@given(st.text())
def test_whatever_a_form_carries_the_way_back_stays_here(carried: str) -> None:
    request = pressed(HERE)
    request.state.fields = {"pressed_on": carried}
    back = pressed_on(request)
    assert local(back) == back
    assert "?" not in back


@given(st.text() | st.text().map(lambda text: f"http://{HOST}/{text}"))
def test_whatever_a_referer_says_the_way_back_stays_here(referer: str) -> None:
    back = pressed_on(pressed(referer))
    assert back == "" or local(back) == back
    assert "?" not in back
    assert login_path(pressed(referer)).startswith("/login?next=%2F")


class NoLedger:
    """Sessions of a ledger that is away."""

    def find(self, token: str, *, is_use: bool = True) -> None:
        raise Transient("no route to postgres.internal")


class NoSession:
    """Sessions that are all over."""

    def find(self, token: str, *, is_use: bool = True) -> None:
        return None


async def press(
    sessions: Any,
    form: dict[str, str] | None = None,
    path: str = f"{ALERT}/acknowledge",
    **headers: str,
) -> httpx2.Response:
    """Press a button of the console that has such sessions."""
    desk: Any = SimpleNamespace(health=Health(), clock=SystemClock())
    app = create_app(desk, Door(sessions))
    transport = httpx2.ASGITransport(app)
    async with httpx2.AsyncClient(transport=transport, base_url=f"http://{HOST}") as client:
        return await client.post(path, data=form, headers=headers)


def links(page: httpx2.Response) -> str:
    """Return what stands within the page, below what each has at its top."""
    return page.text.partition("<main")[2].partition("</main>")[0]


async def test_after_a_press_with_the_ledger_away_one_goes_back_and_presses_again() -> None:
    page = await press(NoLedger(), referer=HERE)
    assert page.status_code == 503
    assert f'href="{ALERT}">Go back and press again</a>' in links(page)
    assert "That is safe" in links(page)
    assert 'href=""' not in page.text


async def test_a_press_that_has_a_key_is_offered_again_with_it() -> None:
    """The page it came from would be loaded anew and have another key: another press."""
    page = await press(NoLedger(), {"key": "k1", "note": 'a "fan"\n<b>'}, referer=HERE)
    assert '<input type="hidden" name="key" value="k1">' in links(page)
    assert 'name="note" value="a &#34;fan&#34;\n&lt;b&gt;"' in links(page)
    assert "Go back" not in links(page)


@pytest.mark.parametrize("referer", [HERE, f"{HERE}/acknowledge"])
async def test_what_was_typed_without_a_key_is_offered_again_too(referer: str) -> None:
    """It may be pressed on a page that gave it back, whose address is no page to go back to."""
    page = await press(NoLedger(), {"note": "the fan", "pressed_on": ALERT}, referer=referer)
    assert '<input type="hidden" name="note" value="the fan">' in links(page)
    assert f'<input type="hidden" name="pressed_on" value="{ALERT}">' in links(page)
    assert "Go back" not in links(page)


async def test_a_password_is_not_offered_again() -> None:
    page = await press(NoLedger(), {"old": "a password"}, path="/me", referer=HERE)
    assert "a password" not in page.text
    assert "Go back and press again" in links(page)


async def test_a_form_that_was_given_back_leads_to_the_page_that_it_stood_on() -> None:
    form, there = {"what": "pause", "pressed_on": "/channels?said=x"}, "/channels/email"
    page = await press(NoSession(), form, path=there, referer=f"http://{HOST}{there}")
    assert 'href="/login?next=%2Fchannels">' in links(page)
    page = await press(NoSession(), form, path=there, referer="http://evil.example/won")
    assert 'href="/login?next=%2F">' in links(page)


async def test_without_a_page_to_go_back_to_it_says_so_in_words() -> None:
    page = await press(NoLedger(), referer="http://evil.example/won")
    assert "Go back in the browser" in links(page)
    assert "href" not in links(page)
    assert "evil" not in page.text


async def test_a_press_after_the_session_leads_to_the_login_and_back() -> None:
    page = await press(NoSession(), referer=HERE)
    assert page.status_code == 401
    assert f'href="/login?next={ALERT.replace("/", "%2F")}">Log in</a>' in links(page)
    page = await press(NoSession())
    assert 'href="/login?next=%2F">Log in</a>' in links(page)
