"""HTML from templates; every text in it is escaped."""

import secrets
from pathlib import Path
from typing import Any, Final

from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request

from services.backbone.writing import json_text
from services.console import shown
from services.console.assets import asset_path
from services.console.people.door import FORM_WORD
from services.console.people.roles import NOBODY, Person, Role
from services.console.people.sessions import form_word
from services.console.sparkline import sparkline

_HERE: Final = Path(__file__).parent


def _templates() -> Environment:
    made = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters["utc"] = shown.utc
    made.filters["clock"] = shown.clock
    made.filters["span"] = shown.span
    made.filters["ms"] = shown.milliseconds
    made.filters["gap"] = shown.gap
    made.filters["rate"] = shown.rate
    made.filters["counted"] = shown.counted
    made.filters["share"] = shown.share
    made.filters["size"] = shown.size
    made.filters["words"] = lambda text: str(text).lower().replace("_", " ")
    made.filters["readable"] = lambda value: value if isinstance(value, str) else json_text(value)
    made.globals["asset"] = asset_path
    made.globals["sparkline"] = sparkline
    for name in made.list_templates():
        made.get_template(name)  # compiled now, so that the first to come does not wait for it
    return made


_TEMPLATES: Final = _templates()


def render(name: str, **terms: Any) -> str:
    """Return a page, or a part of one."""
    return _TEMPLATES.get_template(name).render(**terms)


def html(
    request: Request, name: str, status: int = 200, press_key: str = "", **terms: Any
) -> HTMLResponse:
    """Return a page as an answer, as the person who asks sees it.

    `press_key` is that of a form which is shown again; without it each form gets a new one.
    """
    person: Person = getattr(request.state, "person", NOBODY)
    own = {
        "person": person,
        "may": lambda role: bool(person.name) and person.role.includes(Role(role)),
        "form_word": lambda: _hidden(FORM_WORD, form_word(person.token)),
        "press": lambda: _hidden("key", press_key or secrets.token_hex(16)),
        "here": "",
        "said": request.query_params.get("said", "")[:200],
    }
    return HTMLResponse(render(name, **own | terms), status)


def _hidden(name: str, value: str) -> Markup:
    return Markup('<input type="hidden" name="{}" value="{}">').format(name, value)
