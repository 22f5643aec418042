"""Where somebody is led to go on: to a page of this console, and nowhere else."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, urlsplit

from starlette.requests import Request

_SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_DOORS: Final = ("/login", "/logout", "/logged-out")

PRESSED_ON: Final = "pressed_on"
"""The field of a form that is given back that names the page on which it stood at first."""


def local(path: str) -> str:
    """Return a path of this site: nobody is sent elsewhere after logging in."""
    is_ours = path.startswith("/") and not path.startswith("//") and "\\" not in path
    return path if is_ours and path.isprintable() else "/"


def is_press(request: Request) -> bool:
    """Tell whether somebody pressed a button, whose address is no page to come back to."""
    return request.method not in _SAFE_METHODS


def pressed_on(request: Request) -> str:
    """Return the page on which a button was pressed; empty where the browser names none of ours.

    A form that was given back stands where it was sent, which may be no page to come back to.
    """
    fields: Mapping[str, str] = getattr(request.state, "fields", {})
    page, carried = _referred(request), fields.get(PRESSED_ON, "")
    return local(carried.partition("?")[0]) if page and carried else page


def _referred(request: Request) -> str:
    """Return the page of ours that the browser names.

    A Referer is a stranger's word: of it counts a path, without what stands after `?`, which a
    page might show.
    """
    try:
        page = urlsplit(request.headers.get("referer", ""))
    except ValueError:
        return ""
    is_ours = page.scheme in ("http", "https") and page.netloc == request.headers.get("host")
    if not is_ours or page.path.startswith(_DOORS):
        return ""
    return local(page.path)


def login_path(request: Request) -> str:
    """Return where to log in, and come back from."""
    back = (pressed_on(request) if is_press(request) else _page_of(request)) or "/"
    return f"/login?next={quote(back, safe='')}"


def _page_of(request: Request) -> str:
    """Return the page that was asked for; of one that asks for its own part, that page."""
    is_part = request.headers.get("hx-request-type") == "partial"
    try:
        page = urlsplit(request.headers.get("hx-current-url", "") if is_part else str(request.url))
    except ValueError:
        return ""
    return page._replace(scheme="", netloc="", fragment="").geturl()
