"""Who asks: a session's cookie, an operator's key, or nobody in particular."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Final
from urllib.parse import parse_qsl

from fastapi import Depends, Request
from starlette.responses import Response

from services.backbone.errors import Transient
from services.backbone.web.keys import ApiKey, Keys, KeysReloader, bearer
from services.backbone.web.problems import Problem
from services.console.people.roles import NOBODY, Person, Role
from services.console.people.sessions import Sessions, is_form_word
from services.console.people.way_back import PRESSED_ON, login_path, pressed_on

FORM_WORD: Final = "word"
FORM_WORD_HEADER: Final = "x-form-word"
FIELDS_LIMIT: Final = 50


@dataclass(frozen=True)
class Door:
    """Knows people; `open_to_readers` lets everybody look who reaches the port.

    Cookies are `secure` where people reach the console by HTTPS.
    """

    sessions: Sessions
    keys: Keys[ApiKey] | None = None
    reloader: KeysReloader[ApiKey] | None = None
    open_to_readers: bool = False
    secure: bool = False

    @property
    def cookie(self) -> str:
        """The cookie's name; with this prefix browsers take it from this host by HTTPS only."""
        return "__Host-aldebaran" if self.secure else "aldebaran"

    def who(self, request: Request, *, is_use: bool = True) -> Person | None:
        """Return who asks; None if nobody known does. Pages ask by themselves, too: no use.

        Raises:
            Problem: 401, there is a key, and it is none of ours.
        """
        presented = bearer(request.headers)
        if presented is not None:
            return self._by_key(presented)
        return self.sessions.find(request.cookies.get(self.cookie, ""), is_use=is_use)

    def may_look(self, request: Request) -> bool:
        """Tell whether who opened a page that lasts may still see what is new on it.

        While the ledger is away nobody can say, and there is nothing new of it either.
        """
        try:
            return self.open_to_readers or self.who(request, is_use=False) is not None
        except Transient:
            return True
        except Problem:
            return False

    def _by_key(self, presented: str) -> Person:
        if self.keys is None:
            raise Problem(401, "no_keys", "there are no operators' keys; log in by the page")
        if self.reloader is not None:
            self.reloader.look()
        return Person(self.keys.of(presented).name, Role.RESPONDER, "api")

    def note(self) -> str | None:
        """Tell what the last look at the file of keys found, if that is a person's business."""
        return self.reloader.note() if self.reloader else None

    def let_in(self, answer: Response, token: str) -> None:
        """Give a browser its session."""
        seconds = int(self.sessions.lifetimes.whole_seconds)
        answer.set_cookie(
            self.cookie, token, max_age=seconds, secure=self.secure, httponly=True, samesite="lax"
        )

    def let_out(self, answer: Response) -> None:
        """Take a browser's session away."""
        answer.delete_cookie(self.cookie, secure=self.secure, httponly=True, samesite="lax")


def _door(request: Request) -> Door:
    door: Door = request.app.state.door
    return door


AtDoor = Annotated[Door, Depends(_door)]
"""The door, for a route's parameter."""


def _reader(request: Request, door: AtDoor) -> Person:
    return _looking(request, door, is_use=True)


def _onlooker(request: Request, door: AtDoor) -> Person:
    return _looking(request, door, is_use=False)


def _looking(request: Request, door: Door, *, is_use: bool) -> Person:
    person = door.who(request, is_use=is_use)
    if person is None and not door.open_to_readers:
        raise _unknown(request)
    person = person or NOBODY
    request.state.person = person
    return person


def _unknown(request: Request) -> Problem:
    return Problem(
        401,
        "log_in",
        "log in by the page, or send an operator's key as `Authorization: Bearer <key>`",
        {"WWW-Authenticate": 'Bearer realm="aldebaran"'},
        login=login_path(request),
    )


Reader = Annotated[Person, Depends(_reader)]
"""Who looks; where reading is open, it may be nobody."""

Onlooker = Annotated[Person, Depends(_onlooker)]
"""The same for what a page asks by itself: left alone, its session ends all the same."""


def _allowed(role: Role, person: Person, request: Request) -> Person:
    if not person.name:
        raise _unknown(request)
    if not person.role.includes(role):
        detail = f"this takes the role {role}; {person.name} is a {person.role}"
        raise Problem(403, "not_allowed", detail)
    return person


def admin_looks(request: Request, person: Reader) -> Person:
    """Return the admin who asks; anybody else is refused."""
    return _allowed(Role.ADMIN, person, request)


Admin = Annotated[Person, Depends(admin_looks)]
"""Who administers, and looks at what only an admin may see."""


@dataclass(frozen=True)
class Press:
    """A button that somebody pressed on one of our pages: who, and what the form says."""

    person: Person
    fields: Mapping[str, str]

    def text(self, name: str, limit: int = 400) -> str:
        """Return a field, cut to its limit; empty if the form has none."""
        return self.fields.get(name, "").strip()[:limit]

    def key_again(self, problem: Problem | None) -> str:
        """Return the key for the form when it is shown again: after a lost answer the same press
        is the same deed. One that was used for something else is not good any more: empty."""
        return "" if problem and problem.status == 409 else self.text("key", 256)


def same_press(request: Request) -> Mapping[str, str]:
    """Return the form of a press to be sent again as it is; empty where it may not be shown."""
    fields: Mapping[str, str] = getattr(request.state, "given_back", {})
    page = pressed_on(request)
    return {**fields, PRESSED_ON: page} if fields and page else fields


async def read_form(request: Request) -> dict[str, str]:
    """Return a form's fields; of those with one name the last.

    Raises:
        Problem: 422, it is no form.
    """
    try:
        text = (await request.body()).decode("utf-8")
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=FIELDS_LIMIT)
    except ValueError:
        raise Problem(422, "bad_form", "this is no form of ours; load the page again") from None
    if any("\x00" in value for _, value in pairs):
        raise Problem(422, "bad_form", "a field holds a character that cannot be kept")
    return dict(pairs)


def check_origin(request: Request) -> None:
    """Refuse what a page of another site sends.

    Raises:
        Problem: 403.
    """
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise Problem(403, "foreign_page", "this was sent by a page of another site")


def check_word(request: Request, person: Person, given: str) -> None:
    """Refuse a request by a session that no page of ours has made; keys need no word.

    Raises:
        Problem: 403.
    """
    check_origin(request)
    if person.token and not is_form_word(person.token, given):
        raise Problem(403, "stale_page", "the page is of another session; load it again")


def _presser(role: Role, *, may_be_shown: bool = True) -> Callable[..., Awaitable[Press]]:
    """Return what lets a press in; fields that `may_be_shown` hold no password."""

    async def pressed(request: Request, door: AtDoor) -> Press:
        # Before anything is given back: this site without TLS would name a page of ours, too.
        check_origin(request)
        fields = await read_form(request)
        request.state.fields = fields
        request.state.given_back = fields if may_be_shown else {}
        person = await asyncio.to_thread(door.who, request)
        request.state.person = person or NOBODY
        known = _allowed(role, person or NOBODY, request)
        check_word(request, known, fields.get(FORM_WORD, ""))
        request.state.is_let_in = True
        return Press(known, fields)

    return pressed


ReaderPress = Annotated[Press, Depends(_presser(Role.VIEWER, may_be_shown=False))]
ResponderPress = Annotated[Press, Depends(_presser(Role.RESPONDER))]
AdminPress = Annotated[Press, Depends(_presser(Role.ADMIN))]


def _caller(role: Role) -> Callable[..., Person]:
    def called(request: Request, person: Reader) -> Person:
        known = _allowed(role, person, request)
        check_word(request, known, request.headers.get(FORM_WORD_HEADER, ""))
        return known

    return called


responder_calls: Final = _caller(Role.RESPONDER)
admin_calls: Final = _caller(Role.ADMIN)

Responder = Annotated[Person, Depends(responder_calls)]
"""Who acts by the JSON API."""

Administrator = Annotated[Person, Depends(admin_calls)]
"""Who administers by the JSON API."""
