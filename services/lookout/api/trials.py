"""Test-sends over HTTP: an alert that takes the whole path, to the named recipients only."""

import re
from collections.abc import Collection, Iterable
from typing import Annotated, Final

from fastapi import APIRouter, Header
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.config import JsonDict

from services.backbone.kafka.producer import Outgoing
from services.backbone.web.problems import Problem
from services.contracts import topics
from services.contracts.ids import digest
from services.contracts.recipients import complaint
from services.contracts.records import Name, Severity, ShortText
from services.lookout import metrics
from services.lookout.api.desk import Desk, Served
from services.lookout.api.operators import Operator
from services.lookout.routing import Route, Routes, Target
from services.lookout.trials import TARGETS_LIMIT, Trial, delivery_ids

_EXAMPLE: Final[JsonDict] = {"channel": "email", "recipient": "desk@example.com"}
_SAME: Final = "the same key with the same recipients and words again is the same test"
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


class TrialBody(BaseModel):
    """Whom to send a test: a recipient, or all of a person, or all of a route."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [_EXAMPLE, {"person": "ann"}]}
    )

    channel: Name | None = None
    recipient: Annotated[str, StringConstraints(min_length=1, max_length=512)] | None = None
    person: Name | None = None
    route: Name | None = None
    severity: Severity = Severity.INFO
    text: Annotated[ShortText, Field(description="what they read")] = ""
    heed_silences: Annotated[
        bool, Field(description="let silences hold it back, as they would an alert")
    ] = False


class TrialPage(BaseModel):
    """The test's alert, its deliveries, and where to see what becomes of them."""

    alert_id: str
    why: str
    delivery_ids: list[str]
    told: list[dict[str, str]]


def trial_routes() -> APIRouter:
    """Return the routes; they run on threads, since writing waits for the brokers."""
    router = APIRouter(prefix="/test-sends", tags=["test-sends"])

    @router.post("", status_code=202, summary="Send a test the whole way")
    def send(
        body: TrialBody,
        operator: Operator,
        desk: Served,
        idempotency_key: Annotated[str | None, Header(max_length=256, description=_SAME)] = None,
    ) -> TrialPage:
        targets = _targets(body, desk)
        trial = Trial(
            targets, operator, body.severity, _CONTROLS.sub(" ", body.text), body.heed_silences
        )
        key = _key(trial, idempotency_key) if idempotency_key else desk.new_key()
        alert = trial.alert(key, desk.clock.now_ms())
        desk.writer.write([Outgoing(topics.ALERTS, alert.alert_id, alert.encode())])
        metrics.TRIALS.inc()
        return TrialPage(
            alert_id=alert.alert_id,
            why=f"/alerts/{alert.alert_id}/why",
            delivery_ids=delivery_ids(alert.alert_id, targets),
            told=[{"channel": each.channel, "recipient": each.recipient} for each in targets],
        )

    return router


def _key(trial: Trial, given: str) -> str:
    """Return a key for what is asked: of another test under the same key, nothing is dropped."""
    heeds = "heeds" if trial.heeds_silences else ""
    told = [part for each in trial.targets for part in (each.channel, each.recipient)]
    return digest("trial", trial.asked_by, given, trial.severity, trial.text, heeds, *told)


def _targets(body: TrialBody, desk: Desk) -> tuple[Target, ...]:
    given = [body.person is not None, body.route is not None, body.channel is not None]
    if sum(given) != 1 or (body.channel is None) != (body.recipient is None):
        raise _bad("name channel and recipient, or a person, or a route")
    routes = desk.routes.current()
    if body.person is not None:
        found = of_person(routes, body.person, desk.channels)
    elif body.route is not None:
        found = of_route(routes, body.route)
    else:
        found = (Target(body.channel or "", body.recipient or ""),)
    for target in found:
        _check(target, desk)
    if len(found) > TARGETS_LIMIT:
        raise _bad(f"a test has at most {TARGETS_LIMIT} recipients, not {len(found)}")
    return found


def of_person(routes: Routes, name: str, channels: Collection[str]) -> tuple[Target, ...]:
    """Return a person's recipients, one per channel that is in use."""
    person = routes.people.get(name)
    if person is None:
        raise _bad(f"the routes name no person {name}; known are {_listed(routes.people)}")
    found = tuple(each for each in person.targets if each.channel in channels)
    if not found:
        raise _bad(f"{name} has no channel that is in use; in use are {_listed(channels)}")
    return found


def of_route(routes: Routes, name: str) -> tuple[Target, ...]:
    """Return the recipients that a route tells itself."""
    for route in _all(routes.roots):
        if route.name == name:
            return tuple(dict.fromkeys(each.target for each in route.instructions))
    raise _bad(f"there is no route {name}")


def _all(routes: tuple[Route, ...]) -> list[Route]:
    return [each for route in routes for each in (route, *_all(route.routes))]


def _check(target: Target, desk: Desk) -> None:
    if target.channel not in desk.channels:
        known = _listed(desk.channels)
        raise _bad(f"unknown channel {target.channel}; known are {known}")
    if wrong := complaint(target.channel, target.recipient):
        raise _bad(wrong)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def _bad(detail: str) -> Problem:
    return Problem(422, "bad_test_send", detail)
