"""Decisions after intake: what was decided about a delivery, by which part, and why."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from services.backbone.ledger.database import Connection

_NOTE: Final = """
INSERT INTO decisions (alert_id, delivery_id, stage, decided, why)
SELECT * FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[], %s::text[])
"""


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision; `delivery_id` is None where it is about the whole alert."""

    alert_id: str
    delivery_id: str | None
    stage: str
    decided: str
    why: str


def note(connection: Connection, decisions: Sequence[Decision]) -> None:
    """Add decisions in the caller's transaction, so that they stand exactly if the deed does."""
    if decisions:
        connection.execute(
            _NOTE,
            (
                [each.alert_id for each in decisions],
                [each.delivery_id for each in decisions],
                [each.stage for each in decisions],
                [each.decided for each in decisions],
                [each.why for each in decisions],
            ),
        )
