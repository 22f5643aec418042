"""What somebody typed comes back where a press is refused: with what to do, and no password."""

import re
from html import unescape
from types import SimpleNamespace
from typing import Any, Final, Never

import httpx2
import pytest
from starlette.requests import Request

from services.backbone.clock import SystemClock
from services.backbone.errors import Refused
from services.backbone.health import Health
from services.backbone.web.problems import Problem
from services.console.app import create_app
from services.console.people.door import Door
from services.console.people.roles import Person, Role
from services.console.people.sessions import form_word
from services.console.people.typed import typed

HERE: Final = "http://localhost:18080"
NOTE: Final = 'the "fan"\n<b> of hall 2'
TOKEN: Final = "token"


class Known:
    """One session, of somebody in a role; with no role none."""

    def __init__(self, role: Role | None) -> None:
        self._role = role

    def find(self, token: str, *, is_use: bool = True) -> Person | None:
        return Person("ann", self._role, "page", token) if self._role and token else None


class Refusing:
    """A ledger in which somebody else was quicker, and a login that takes no password."""

    def connection(self) -> Never:
        raise Refused("channel email is stopped already")

    def change(self, *_: object) -> Never:
        raise Refused("a password has at least 12 characters")


async def refused(
    role: Role | None,
    path: str,
    form: dict[str, str],
    referer: str = f"{HERE}/alerts",
    site: str = "same-origin",
) -> httpx2.Response:
    """Press a button of the console as somebody in such a role."""
    desk: Any = SimpleNamespace(
        health=Health(), clock=SystemClock(), pool=Refusing(), login=Refusing()
    )
    sessions: Any = Known(role)
    transport = httpx2.ASGITransport(create_app(desk, Door(sessions)))
    headers = {"referer": referer, "cookie": f"aldebaran={TOKEN}", "sec-fetch-site": site}
    async with httpx2.AsyncClient(transport=transport, base_url=HERE) as client:
        page = await client.post(path, data=form, headers=headers)
    assert page.status_code in (401, 403, 409, 422)
    return page


def given_back(page: httpx2.Response) -> dict[str, str]:
    """Return the fields of the form that stands on the page."""
    form = page.text.partition('id="typed">')[2].partition("</form>")[0]
    inputs = re.findall(r'<input [^>]*name="([^"]*)" value="([^"]*)"', form)
    texts = re.findall(r'<textarea name="([^"]*)"[^>]*>\n([^<]*)</textarea>', form)
    return {name: unescape(text) for name, text in [*inputs, *texts]}


@pytest.mark.parametrize(
    ("role", "word", "advice"),
    [
        (None, form_word(TOKEN), "your session is over: log in in another tab"),
        (Role.VIEWER, form_word(TOKEN), "ann is a viewer: let an admin give you the role"),
        (Role.ADMIN, "of another session", "you are logged in as ann now: press again"),
    ],
)
async def test_what_was_typed_stands_there_to_be_pressed_again(
    role: Role | None, word: str, advice: str
) -> None:
    form = {"why": NOTE, "action": "arrived", "attempt": "2", "key": "k1", "word": word}
    page = await refused(role, f"/deliveries/{'a' * 32}", form)
    assert advice in page.text
    again = given_back(page)
    assert again.pop("word") == form_word(TOKEN if role else "")
    assert again.pop("pressed_on") == "/alerts"
    assert again == {name: text for name, text in form.items() if name != "word"}
    assert ">Press again: arrived</button>" in page.text


async def test_what_a_wrong_field_came_with_stands_there_with_the_reason() -> None:
    form = {"name": NOTE, "what": "no such deed", "key": "k1", "word": form_word(TOKEN)}
    page = await refused(Role.ADMIN, "/users", form, f"{HERE}/users")
    assert page.status_code == 422
    assert "this is no form of ours" in page.text
    assert "change what you wrote and press again" in page.text
    assert given_back(page) == form | {"pressed_on": "/users"}
    assert 'href="/users">Look in another tab</a>' in page.text


async def test_where_somebody_was_quicker_the_text_stands_there_for_another_press() -> None:
    """A key that was used for something else would be refused again."""
    form = {"why": NOTE, "what": "pause", "key": "k1", "word": form_word(TOKEN)}
    page = await refused(Role.ADMIN, "/channels/email", form, f"{HERE}/channels")
    assert page.status_code == 409
    assert "channel email is stopped already" in page.text
    assert "Look first. What you wrote stands here; to press again is a new press." in page.text
    assert "change what you wrote" not in page.text
    again = given_back(page)
    assert re.fullmatch("[0-9a-f]{32}", again["key"])
    assert again == form | {"pressed_on": "/channels", "key": again["key"]}


async def test_of_a_press_before_it_without_an_answer_nothing_is_promised() -> None:
    """It may have been done, and a key names a press of one person only."""
    page = await refused(None, f"/deliveries/{'a' * 32}", {"why": NOTE, "key": "k1"})
    assert "This press did nothing." in page.text
    assert "look first, or press again as the same person" in page.text


async def test_a_form_without_a_text_leads_back_as_ever() -> None:
    page = await refused(None, f"/alerts/{'a' * 32}/acknowledge", {"word": "", "note": " "})
    assert not given_back(page)
    assert ">Log in</a>" in page.text


async def test_a_password_is_never_given_back() -> None:
    form = {"old": "an old password", "new": "another password", "word": "of another session"}
    page = await refused(Role.ADMIN, "/me", form)
    assert not given_back(page)
    assert "password" not in page.text.partition("<main")[2]


async def test_what_no_page_of_ours_has_sent_is_not_made_ready_to_be_pressed() -> None:
    form = {"note": "made by a stranger", "word": ""}
    page = await refused(
        Role.ADMIN, f"/alerts/{'a' * 32}/acknowledge", form, "http://evil.example/alerts"
    )
    assert not given_back(page)
    assert "stranger" not in page.text


async def test_a_page_of_the_same_name_without_tls_is_none_of_ours() -> None:
    """Its form comes without the session's cookie; given back, a click would be the admin's."""
    form = {"name": "mallory", "role": "admin", "what": "add"}
    page = await refused(None, "/users", form, f"{HERE}/users", site="cross-site")
    assert page.status_code == 403
    assert not given_back(page)
    assert "mallory" not in page.text


@pytest.mark.parametrize("word", ["", "of another session"])
async def test_what_a_strangers_page_sends_is_judged_at_the_door_first(word: str) -> None:
    """Wrong anyway, nothing is said of it, nor is it given back."""
    form = {"name": "mallory", "what": "no such deed", "word": word}
    page = await refused(Role.ADMIN, "/users", form, "http://evil.example/users")
    assert page.status_code == 403
    assert not given_back(page)
    assert "mallory" not in page.text


@pytest.mark.parametrize(
    ("seen", "is_given_back"),
    [({"is_let_in": True}, True), ({"is_let_in": False}, False), ({}, False)],
)
def test_a_wrong_field_comes_back_only_after_the_door_has_let_it_in(
    seen: dict[str, bool], is_given_back: bool
) -> None:
    headers = [(b"host", b"localhost:18080"), (b"referer", f"{HERE}/users".encode())]
    state = {"given_back": {"name": "mallory"}} | seen
    request = Request({"type": "http", "method": "POST", "headers": headers, "state": state})
    told = typed(request, Problem(422, "bad_word", "no such deed"))
    assert (told is not None) == is_given_back


async def test_a_form_that_cannot_be_read_is_not_given_back() -> None:
    form = {"name": "mallory", "why": "\0", "word": form_word(TOKEN)}
    page = await refused(Role.ADMIN, "/users", form)
    assert page.status_code == 422
    assert not given_back(page)


async def test_a_password_that_is_refused_is_not_given_back() -> None:
    form = {"old": "an old password", "new": "tiny", "word": form_word(TOKEN)}
    page = await refused(Role.ADMIN, "/me", form)
    assert page.status_code == 422
    assert "an old password" not in page.text
    assert "tiny" not in page.text.partition("<main")[2]
