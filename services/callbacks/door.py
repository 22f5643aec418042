"""Takes one provider's callbacks: checked, given to the ledger, and only then answered 2xx.

An answer tells the provider what to do: 204, the ledger has it; 503, say it again; 403, we do not
believe it; 400, we cannot read it; 404, no such delivery.
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from services.backbone.clock import Clock
from services.backbone.errors import Transient
from services.backbone.ledger.deliveries.evidence import Evidence
from services.backbone.ledger.deliveries.moves import Move
from services.backbone.log import logger
from services.backbone.seldom import Seldom
from services.callbacks import metrics
from services.callbacks.body import read_body
from services.callbacks.provider import Callback, Forged, Provider, Told, Unreadable

log = logger(__name__)

_DELIVERY_ID: Final = re.compile(r"[0-9a-f]{32}")
_AGAIN_SECONDS: Final = "1"

Endpoint = Callable[[Request], Awaitable[Response]]


class Book(Protocol):
    """Where evidence is kept; the ledger's `EvidenceBook`."""

    def give(self, evidence: Sequence[Evidence]) -> list[Move]:
        """Keep evidence; raises Transient while the ledger is away."""


@dataclass(frozen=True)
class Door:
    """One provider's callbacks."""

    provider: Provider
    book: Book
    clock: Clock
    body_limit_bytes: int
    body_timeout_seconds: float
    seldom: Seldom = field(default_factory=Seldom)
    """Of what strangers can send at any rate."""

    def route(self) -> Route:
        """Return where this provider calls back."""
        path = f"/{self.provider.name}/{{delivery_id}}"
        return Route(path, self.answer, methods=["POST"], name=self.provider.name)

    async def answer(self, request: Request) -> Response:
        """Answer one callback."""
        begun = self.clock.monotonic_seconds()
        name = self.provider.name
        outcome, response = await self._judge(request)
        metrics.CALLBACKS.labels(name, outcome).inc()
        metrics.ANSWER_SECONDS.labels(name).observe(self.clock.monotonic_seconds() - begun)
        return response

    async def _judge(self, request: Request) -> tuple[str, Response]:
        delivery_id = str(request.path_params["delivery_id"])
        if not _DELIVERY_ID.fullmatch(delivery_id):
            return "unknown", problem(404, "no_such_delivery", "that is no delivery's id")
        body = await read_body(request, self.body_limit_bytes, self.body_timeout_seconds)
        reading = self.provider.read(_callback(request, delivery_id, body))
        match reading:
            case Forged(reason):
                self._warn("callback_forged", reason)
                return "forged", problem(403, "not_believed", reason)
            case Unreadable(reason):
                self._warn("callback_unreadable", reason)
                return "unreadable", problem(400, "unreadable", reason)
            case Told(evidence):
                return await self._give(delivery_id, evidence)

    def _warn(self, event: str, reason: str) -> None:
        now_seconds, name = self.clock.monotonic_seconds(), self.provider.name
        self.seldom.tell(log.warning, event, now_seconds, provider=name, reason=reason)

    async def _give(self, delivery_id: str, evidence: Sequence[Evidence]) -> tuple[str, Response]:
        try:
            applied = await run_in_threadpool(self.book.give, evidence)
        except Transient as error:
            log.warning("ledger_away", reason=str(error))
            return "ledger_away", problem(503, "ledger_away", "the ledger is away: say it again")
        if evidence and not applied:
            log.warning("callback_unknown", provider=self.provider.name, delivery_id=delivery_id)
            return "unknown", problem(404, "no_such_delivery", "the ledger has no such delivery")
        for each in applied:
            self._tell(each)
        return "told", Response(status_code=204)

    def _tell(self, applied: Move) -> None:
        log.info(
            "evidence_given",
            provider=self.provider.name,
            delivery_id=applied.delivery_id,
            alert_id=applied.alert_id,
            before=applied.before,
            states=applied.path,
            reason=applied.reason,
        )
        for state in applied.path[-1:]:
            metrics.MOVES.labels(self.provider.name, state).inc()


def problem(status: int, title: str, detail: str) -> Response:
    """Return problem details (RFC 9457)."""
    headers = {"Retry-After": _AGAIN_SECONDS} if status == 503 else {}
    content = {"title": title, "status": status, "detail": detail}
    return JSONResponse(content, status, headers, media_type="application/problem+json")


def _callback(request: Request, delivery_id: str, body: bytes) -> Callback:
    raw = request.scope.get("raw_path") or request.url.path.encode()
    query = request.scope.get("query_string", b"")
    path = raw.partition(b"?")[0] + (b"?" + query if query else b"")
    return Callback(
        delivery_id=delivery_id,
        path=path.decode("latin-1"),
        query=dict(request.query_params),
        headers=dict(request.headers),
        body=body,
    )
