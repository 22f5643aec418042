"""What the API acts on; it is there from the moment that the program has its stores."""

import secrets
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Annotated, Protocol

from fastapi import Depends, Request

from services.backbone.clock import Clock
from services.backbone.ledger.alerts.unsent import Unsent
from services.backbone.ledger.answers.why import Answer, Answers
from services.backbone.ledger.database import Pool
from services.backbone.ledger.deliveries.dropped import DroppedRecipients
from services.backbone.ledger.operators.acknowledgements import Acknowledgements
from services.backbone.ledger.operators.silences import Silences
from services.backbone.web.problems import away
from services.lookout.outbox.publishing import Writer
from services.lookout.routes.problems import BadRoutes, Problem
from services.lookout.routing import Routes


class HeldRoutes(Protocol):
    """The routes in use, which a changed file replaces."""

    def current(self) -> Routes:
        """Return the routes in use."""

    def reload(self) -> None:
        """Take over the file; raises BadRoutes and changes nothing if it cannot be used."""

    @property
    def problem(self) -> BadRoutes | None:
        """Why the newest file could not be taken over; None if it was."""

    @property
    def warnings(self) -> Sequence[Problem]:
        """What the file in use says and hardly means."""


class Why(Protocol):
    """What answers why an alert was sent or not."""

    def why(self, alert_id: str) -> Answer | None:
        """Return all that is recorded about an alert, or None."""

    def absent(self, alert_id: str) -> str:
        """Say where an alert is that there is no record of, as far as that is known."""


@dataclass(frozen=True)
class Desk:
    """The parts of a running lookout that operators reach."""

    routes: HeldRoutes
    silences: Silences
    unsent: Unsent
    acknowledgements: Acknowledgements
    answers: Why
    dropped: DroppedRecipients
    writer: Writer
    clock: Clock
    channels: Collection[str]
    new_key: Callable[[], str]


def open_desk(
    pool: Pool, routes: HeldRoutes, writer: Writer, clock: Clock, channels: Collection[str]
) -> Desk:
    """Return a desk on a ledger."""
    return Desk(
        routes=routes,
        silences=Silences(pool),
        unsent=Unsent(pool),
        acknowledgements=Acknowledgements(pool),
        answers=Answers(pool),
        dropped=DroppedRecipients(pool),
        writer=writer,
        clock=clock,
        channels=channels,
        new_key=lambda: secrets.token_hex(16),
    )


class Office:
    """Where the desk is put; requests that come before are told to come again."""

    def __init__(self) -> None:
        self._desk: Desk | None = None

    def open(self, desk: Desk) -> None:
        """Begin to serve."""
        self._desk = desk

    def desk(self) -> Desk:
        """Return the desk.

        Raises:
            Problem: 503, the program is still starting.
        """
        if self._desk is None:
            raise away("starting", "the program is starting: /healthz/ready says what it waits for")
        return self._desk


def _desk(request: Request) -> Desk:
    office: Office = request.app.state.office
    return office.desk()


Served = Annotated[Desk, Depends(_desk)]
"""The desk, for a route's parameter."""
