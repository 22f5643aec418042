"""What somebody had typed into a form whose press was refused: it is given back, not lost."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request

from services.backbone.web.problems import Problem
from services.console.people.door import FORM_WORD
from services.console.people.roles import NOBODY, Person
from services.console.people.way_back import PRESSED_ON, is_press, pressed_on

_BUTTONS: Final = ("action", "what")
"""What a pressed button is named, where a form has several."""
_KEY: Final = "key"
_UNSEEN: Final = (_KEY, "attempt", PRESSED_ON, *_BUTTONS)
_UNSEEN_BEGINNING: Final = "left_out:"


@dataclass(frozen=True, slots=True)
class Typed:
    """A refused form: its texts to be seen, what else it carries, and what to do now."""

    texts: Mapping[str, str]
    unseen: Mapping[str, str]
    button: str
    advice: str
    page: str
    """Where it was pressed."""
    is_let_in: bool
    """The door had let it in; it is what was pressed that is not possible."""
    takes_new_key: bool
    """Its key is not good any more."""


def typed(request: Request, problem: Problem) -> Typed | None:
    """Return what to give back; None where nothing was typed, or on no page of ours.

    Another site could send a form of its own making: the door refuses it where the browser tells,
    and no browser names a page of ours for any but this site without TLS. What the door has let in
    has a word that only pages of that session know.
    """
    fields: Mapping[str, str] = getattr(request.state, "given_back", {})
    page, is_let_in = pressed_on(request), _is_let_in(request, problem)
    texts = {name: text for name, text in fields.items() if text.strip() and _is_seen(name)}
    advice = problem.detail if is_let_in else _advice(request, problem)
    if not (texts and advice and is_press(request) and page):
        return None
    # The page that gives the texts back has a word of its own.
    unseen = {name: text for name, text in fields.items() if name not in {*texts, FORM_WORD}}
    unseen[PRESSED_ON] = page
    takes_new_key = problem.status == 409 and unseen.pop(_KEY, None) is not None
    button = next((fields[name] for name in _BUTTONS if name in fields), "")
    return Typed(texts, unseen, button, advice, page, is_let_in, takes_new_key)


def _is_let_in(request: Request, problem: Problem) -> bool:
    """Tell whether it is what was pressed that is not possible: another text or moment may help."""
    passed: bool = getattr(request.state, "is_let_in", False)
    return passed and problem.status in (409, 422)


def _is_seen(name: str) -> bool:
    return name not in (*_UNSEEN, FORM_WORD) and not name.startswith(_UNSEEN_BEGINNING)


def _advice(request: Request, problem: Problem) -> str:
    """Return what to do, so that the door lets it in after all; empty where nothing helps."""
    person: Person = getattr(request.state, "person", NOBODY)
    match problem.reason:
        case "log_in":
            return "your session is over: log in in another tab, come back here, and press again"
        case "stale_page":
            who = f"you are logged in as {person.name} now"
            return f"the page was of another session, and {who}: press again, to do it in this name"
        case "not_allowed":
            other = "let an admin give you the role, or log in as somebody else in another tab"
            return f"{problem.detail}: {other}, and press again"
        case _:
            return ""
