"""The page behind a link in a message: shows the alert, and acknowledges it at a button's press.

Scanners of mail open every link, so looking at the page never acknowledges anything.
"""

import base64
import hashlib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Protocol

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from prometheus_client import Counter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from services.backbone.clock import Clock
from services.backbone.errors import Transient
from services.backbone.ledger.operators.acknowledgements import (
    Acknowledged,
    Acknowledgement,
    Shown,
    Via,
)
from services.backbone.log import logger
from services.backbone.seldom import Seldom
from services.backbone.web.links import ACKNOWLEDGE_PATH, Expired, Forged, Links

log = logger(__name__)

PAGES: Final = Counter(
    "aldebaran_callbacks_acknowledge_total",
    "Requests to the page of a link by outcome: shown, acknowledged, again, forged, expired,"
    " unknown, ledger_away.",
    ["outcome"],
)

AGAIN_SECONDS: Final = 2
_STYLE: Final = (
    "body{font:1rem/1.5 system-ui,sans-serif;margin:0;background:#f4f4f2;color:#1b1b1b}"
    "main{max-width:36rem;margin:2rem auto;padding:1.5rem;background:#fff;border-radius:.5rem}"
    "h1{font-size:1.3rem;margin-top:0}.summary{font-weight:600}"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem}dd{margin:0;"
    "overflow-wrap:anywhere}button{font:inherit;padding:.7rem 1.5rem;border:0;"
    "border-radius:.4rem;background:#14532d;color:#fff}.small{font-size:.85rem;color:#555}"
)
_STYLE_HASH: Final = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
SAFE_HEADERS: Final = {
    "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


def _utc(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _template_environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    made.filters["utc"] = _utc
    return made


_PAGE: Final = _template_environment().get_template("acknowledge.html")


class Kept(Protocol):
    """Where acknowledgements are kept; the ledger's `Acknowledgements`."""

    def shown(self, delivery_id: str) -> Shown | None:
        """Return what a delivery is about; raises Transient while the ledger is away."""

    def of(self, alert_id: str) -> tuple[Acknowledgement, ...]:
        """Return who has acknowledged an alert."""

    def acknowledge(
        self, alert_id: str, *, person: str, via: Via, note_text: str = ""
    ) -> Acknowledged:
        """Note that a person has the alert in hand."""


@dataclass(frozen=True)
class AcknowledgePage:
    """Answers for one link: GET shows, POST acknowledges."""

    links: Links
    kept: Kept
    clock: Clock
    seldom: Seldom = field(default_factory=Seldom)
    """Of what strangers can send at any rate."""

    def route(self) -> Route:
        """Return where links lead."""
        return Route(f"{ACKNOWLEDGE_PATH}/{{token}}", self.answer, methods=["GET", "POST"])

    async def answer(self, request: Request) -> Response:
        """Answer one request; its body is never read."""
        token = str(request.path_params["token"])
        outcome, response = await self._judge(token, pressed=request.method == "POST")
        PAGES.labels(outcome).inc()
        return response

    async def _judge(self, token: str, *, pressed: bool) -> tuple[str, Response]:
        try:
            ticket = self.links.read(token, self.clock.now_ms())
            turn = self._press if pressed else self._show
            return await run_in_threadpool(turn, ticket.delivery_id)
        except Forged as error:
            now_seconds = self.clock.monotonic_seconds()
            self.seldom.tell(log.warning, "link_forged", now_seconds, reason=str(error))
            return "forged", _page(403, "This link is not valid", said=str(error))
        except Expired as error:
            return "expired", _page(410, "This link is over", said=str(error))
        except Transient as error:
            log.warning("ledger_away", reason=str(error))
            return "ledger_away", _away(pressed=pressed)

    def _show(self, delivery_id: str) -> tuple[str, Response]:
        shown = self.kept.shown(delivery_id)
        if shown is None:
            return _unknown()
        words = self.kept.of(shown.alert_id)
        title = "Already acknowledged" if words else "Acknowledge this alert?"
        page = _page(200, title, alert=shown, words=words, button=not words)
        return "shown", page

    def _press(self, delivery_id: str) -> tuple[str, Response]:
        shown = self.kept.shown(delivery_id)
        if shown is None:
            return _unknown()
        done = self.kept.acknowledge(shown.alert_id, person=shown.recipient, via="link")
        log.info(
            "acknowledged",
            alert_id=shown.alert_id,
            delivery_id=delivery_id,
            new=done.new,
            via="link",
        )
        title = "Acknowledged" if done.new else "Already acknowledged"
        said = "You look after it. Nobody is told of it by escalation from now on."
        page = _page(200, title, alert=shown, said=said, words=done.all)
        return ("acknowledged" if done.new else "again"), page


def _unknown() -> tuple[str, Response]:
    said = "The alert of this link is not in our ledger. Ask whoever runs Aldebaran."
    return "unknown", _page(404, "No such alert", said=said)


def _away(*, pressed: bool) -> Response:
    """Say no more than is known: a ledger that went away may have kept the press before."""
    if pressed:
        said = "It is not known whether this was acknowledged. Open the link again in a moment."
        return _page(503, "We cannot tell just now", said=said)
    said = "The alert cannot be shown now. Open the link again in a moment."
    return _page(503, "We cannot do this just now", said=said)


def _page(status: int, title: str, **terms: Any) -> Response:
    given = {"alert": None, "said": "", "words": (), "button": False} | terms
    text = _PAGE.render(title=title, style=_STYLE, **given)
    headers = SAFE_HEADERS | ({"Retry-After": str(AGAIN_SECONDS)} if status == 503 else {})
    return HTMLResponse(text, status, headers)
