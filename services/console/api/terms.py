"""What the requests of the API share: pages, ids, keys of presses."""

from typing import Annotated, Final

from fastapi import Header, Path, Query
from pydantic import BaseModel, ConfigDict, StringConstraints

from services.backbone.ledger.answers.reading import PAGE_LIMIT, LedgerReader
from services.backbone.ledger.page_start import NEWEST, PageStart
from services.backbone.ledger.rows import AlertDetail
from services.backbone.web.problems import Problem

Limit = Annotated[int, Query(ge=1, le=PAGE_LIMIT, description="rows per page")]
Cursor = Annotated[
    str | None, Query(max_length=64, description="next_cursor of the page before this one")
]
AlertId = Annotated[str, Path(pattern=r"^[0-9a-f]{32}$")]
AlertStart = Annotated[
    str, Path(pattern=r"^[0-9a-f]{8,32}$", description="an alert's id, or the beginning of one")
]
DeliveryId = Annotated[str, Path(pattern=r"^[0-9a-f]{32}$")]
SilenceId = Annotated[str, Path(pattern=r"^[0-9a-f]{32}$")]
TraceId = Annotated[str, Path(pattern=r"^[0-9a-f]{32}$")]
RehearsalId = Annotated[str, Path(pattern=r"^[0-9a-f]{32}$")]
Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        max_length=256,
        description="the same key again is the same deed, done once",
    ),
]
PlainText = StringConstraints(pattern=r"^[^\x00]*$")

DEFAULT_LIMIT: Final = 50


class Body(BaseModel):
    """What all bodies share: no field that is not known."""

    model_config = ConfigDict(extra="forbid")


def read_cursor(text: str | None) -> PageStart:
    """Return the place to go on from.

    Raises:
        Problem: it is no cursor of ours.
    """
    try:
        return PageStart.parse(text) if text else NEWEST
    except ValueError as error:
        raise Problem(422, "bad_cursor", str(error)) from None


def known_alert(reader: LedgerReader, alert_id: str) -> AlertDetail:
    """Return an alert with its deliveries and attempts.

    Raises:
        Problem: 404, the ledger has none of this id.
    """
    found = reader.alert(alert_id)
    if found is None:
        raise no_such_alert(alert_id)
    return found


def no_such_alert(alert_id: str) -> Problem:
    """Return 404 for an alert that is not in the ledger."""
    return Problem(404, "no_such_alert", f"the ledger has no alert {alert_id[:64]}")


def no_such_delivery(delivery_id: str) -> Problem:
    """Return 404 for a delivery that is not in the ledger."""
    return Problem(404, "no_such_delivery", f"the ledger has no delivery {delivery_id[:64]}")
