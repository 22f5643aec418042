"""A watch that somebody has tried: fewer minutes before a request count."""

from typing import Final

import psycopg
from psycopg.types.json import Jsonb

from services.contracts.ids import alert_id
from services.contracts.rehearsals import Answer, Course, Looked, Raised, Rehearsal
from services.contracts.watches import SHIPPED_WATCHES

ID: Final = "5" * 32
_ADD: Final = """
INSERT INTO rehearsals (rehearsal_id, asked_by, watch, question, state, answer, ended_at)
VALUES (%s, 'ann', 'over-purchase', %s, 'DONE', %s, ledger_now())"""
_RAISED: Final = (
    ("live", "R-40011", "Tern Capital: 2680 shares of VIVO purchased, 2600 requested", 3),
    ("both", "R-40047", "Meridian: 1490 shares of ACME purchased, 1400 requested", 1),
    ("both", "R-40031", "Baker Fund: 3150 shares of ORCA purchased, 3100 requested", 2),
)


def add_rehearsal(url: str, now_ms: int) -> str:
    """Add one with its answer; return its id."""
    live = (SHIPPED_WATCHES / "over-purchase.yaml").read_text()
    asked = Rehearsal(new=live.replace("early: 1 hour  ", "early: 5 minutes"), live=live)
    course = Course(alerts=2, rows=3, malformed=0, seconds=3.4)
    answer = Answer(
        watch="over-purchase",
        looked=Looked(since_ms=now_ms - 3_600_000, until_ms=now_ms, events=14_512, wanted=14_512),
        new=course,
        live=course.model_copy(update={"alerts": 3, "rows": 6}),
        counts={"new": 0, "live": 1, "both": 2},
        raised=tuple(
            Raised.model_validate(
                {"alert_id": alert_id("over-purchase", [book]), "by": by, "severity": "critical",
                 "summary": f"Order {book} of {told}", "key": {"order_id": book},
                 "appended_at_ms": now_ms - 60_000 * times, "times": times}
            )
            for by, book, told, times in _RAISED
        ),
    )  # fmt: skip
    with psycopg.connect(url) as connection:
        dumped = (Jsonb(each.model_dump(mode="json")) for each in (asked, answer))
        connection.execute(_ADD, (ID, *dumped))
    return ID
