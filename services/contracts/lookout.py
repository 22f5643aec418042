"""What the lookout answers operators and the console, which passes it on as it is.

A new field, also one of `SilenceRow`, has a default: while both are replaced, a console meets a
lookout of before.
"""

from typing import Annotated, Final

from pydantic import BaseModel, Field

_DROPPED: Final = "why the provider dropped this address; a message goes to the fallback at once"
Unreachable = Annotated[str | None, Field(description=_DROPPED)]


class Line(BaseModel):
    """One thing that is wrong with the file."""

    line: int
    reason: str
    file: str = ""


class RoutesPage(BaseModel):
    """The routes in use, and what is wrong with a newer file that could not be taken over."""

    version_id: str
    problems: list[Line]
    warnings: Annotated[
        list[Line], Field(description="what the routes in use say and hardly mean")
    ] = []


class Stand(BaseModel):
    """One recipient who is told if the one before failed for good."""

    channel: str
    recipient: str
    unreachable: Unreachable = None


class Told(BaseModel):
    """One recipient who would be told."""

    channel: str
    recipient: str
    route: str
    template: str | None
    fallback: list[Stand]
    unreachable: Unreachable = None


class Asked(BaseModel):
    """One route that was asked."""

    route: str
    fits: bool
    why: str


class ExplainPage(BaseModel):
    """Who would be told, and why."""

    routed_by: list[str]
    considered: list[Asked]
    told: list[Told]
    escalations: list[str]


class Caught(BaseModel):
    """One alert that a silence would have caught."""

    alert_id: str
    watch: str
    severity: str
    summary: str


class OpenDelivery(BaseModel):
    """One delivery, not sent yet, that a silence would hold back."""

    delivery_id: str
    alert_id: str
    channel: str
    recipient: str
    state: str


class PreviewPage(BaseModel):
    """What a silence would catch: of the newest alerts, and of what is not sent yet."""

    alerts_looked_at: int
    alerts_caught: int
    alerts: list[Caught]
    deliveries_looked_at: int
    deliveries_held_back: int
    deliveries: list[OpenDelivery]
