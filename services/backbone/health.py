"""Health and metrics over HTTP: /healthz/live, /healthz/ready, /metrics."""

from collections.abc import Callable
from typing import Final

from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from services.backbone.web.paths import exact

START: Final = "start"
"""What fails, and nothing else does, until a program has said what it depends on."""

Check = Callable[[], str | None]
"""Returns what is wrong in one sentence, or None; must be quick and never block."""


class Health:
    """The checks that decide whether a program lives and whether it may get work.

    Live fails only for what a restart may heal; ready fails while a dependency is away, and until
    the program has said what it depends on: its pages are up before its body begins.
    """

    def __init__(self) -> None:
        self._live: dict[str, Check] = {}
        self._ready: dict[str, Check] = {}
        self._notes: dict[str, Check] = {}

    def add_live(self, name: str, check: Check) -> None:
        """Add a condition for staying alive."""
        self._live[name] = check

    def add_ready(self, name: str, check: Check) -> None:
        """Add a condition for getting work."""
        self._ready[name] = check

    def add_note(self, name: str, check: Check) -> None:
        """Add what people should see to, although the program does its work."""
        self._notes[name] = check

    def notes(self) -> dict[str, str]:
        """Return what people should see to, by check."""
        return _failures(self._notes)

    def live(self) -> dict[str, str]:
        """Return what is wrong by check; empty means alive."""
        return _failures(self._live)

    def ready(self) -> dict[str, str]:
        """Return what is wrong by check; empty means ready."""
        if not self._ready:
            return {START: "the program is starting"}
        return _failures(self._live | self._ready)


def _failures(checks: dict[str, Check]) -> dict[str, str]:
    answers = ((name, check()) for name, check in checks.items())
    return {name: answer for name, answer in answers if answer is not None}


def health_routes(health: Health) -> list[Route]:
    """Return the routes that every program serves."""

    async def live(_: Request) -> Response:
        return _answer(health.live(), health.notes())

    async def ready(_: Request) -> Response:
        return _answer(health.ready(), health.notes())

    async def metrics(_: Request) -> Response:
        return Response(generate_latest(REGISTRY), media_type=CONTENT_TYPE_LATEST)

    return [
        Route("/healthz/live", live),
        Route("/healthz/ready", ready),
        Route("/metrics", metrics),
    ]


def _answer(failures: dict[str, str], notes: dict[str, str]) -> JSONResponse:
    status = "failing" if failures else "ok"
    body = {"status": status, "failures": failures} | ({"notes": notes} if notes else {})
    return JSONResponse(body, status_code=503 if failures else 200)


def health_app(health: Health, *own: Route) -> Starlette:
    """Return an application of what every program serves, and of the program's own routes."""
    return exact(Starlette(routes=[*health_routes(health), *own]))
