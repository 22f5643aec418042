"""A ledger in which every page has something to show, and the addresses of all pages."""

from dataclasses import dataclass

from services.backbone.ledger.database import Pool, transaction
from services.backbone.ledger.deliveries.pauses import pause_on
from services.backbone.ledger.operators.rehearsals import Rehearsals, ask_on
from services.console.tracing.lines import Line
from services.console.tracing.store import Traces, begin_on
from services.contracts.rehearsals import Answer, Course, Looked, Raised, Rehearsal
from services.contracts.states import State
from services.contracts.watches import SHIPPED_WATCHES
from tests.integration.console.ledger_rows import add_alert, add_attempt, add_delivery

LIVE = (SHIPPED_WATCHES / "over-purchase.yaml").read_text()
COURSE = Course(alerts=2, rows=5, malformed=1, seconds=2.5)
ANSWER = Answer(
    watch="over-purchase",
    looked=Looked(since_ms=1000, until_ms=2000, events=90, wanted=100),
    new=COURSE,
    live=COURSE,
    counts={"new": 1, "live": 1, "both": 1},
    raised=tuple(
        Raised.model_validate(
            {"alert_id": n * 32, "by": by, "severity": severity, "summary": "Found",
             "key": {"k": n}, "appended_at_ms": 1, "times": 2}
        )
        for n, by, severity in (
            ("a", "new", "critical"), ("b", "live", "warning"), ("c", "both", "info")
        )
    ),
)  # fmt: skip
TRACE, STEPS = "7" * 32, ("accepted", "found", "retry wait", "sent", "over", "cut short")
PLAIN = (
    "/", "/alerts", "/todo", "/todo?state=FAILED", "/silences", "/test", "/channels", "/watches",
    "/watches/over-purchase", "/rehearsals?watch=over-purchase", "/routes", "/users", "/audit",
    "/me", "/traces",
)  # fmt: skip


@dataclass(frozen=True)
class Scene:
    """What was made."""

    paths: tuple[str, ...]
    """The address of every page, filled."""


def fill(pool: Pool, url: str) -> Scene:
    """Make one of everything."""
    alert = add_alert(url, "one", summary="A long one, " * 20)
    for state in State:
        made = add_delivery(url, alert, recipient=f"{state.lower()}@example.org", state=state)
        add_attempt(url, made, 1, 0.02, 0.05, "IN_DOUBT")
    with transaction(pool) as connection:
        begin_on(connection, TRACE, "o-4711", "ann", "she misses a message", 900.0)
        pause_on(connection, "email", "ann", "the provider asked us to wait")
        ask_on(connection, "d" * 32, "ann", "mine", Rehearsal(new=LIVE))
        ask_on(connection, "e" * 32, "ann", "over-purchase", _changed())
    Traces(pool).add(TRACE, [Line(each, 0, each, "{" * 200, alert) for each in STEPS], {})
    book = Rehearsals(pool)
    while (taken := book.take("test", 600)) is not None:
        if taken.rehearsal.live is not None:
            book.answer(taken, "test", ANSWER)
    own = (f"/alerts/{alert}", f"/alerts/{alert}/silence", f"/deliveries/{made}")
    tried = (f"/rehearsals/{'d' * 32}", f"/rehearsals/{'e' * 32}")
    return Scene((*PLAIN, *own, *tried, f"/traces/{TRACE}"))


def _changed() -> Rehearsal:
    return Rehearsal(new=LIVE.replace("limit: 24 hours", "limit: 12 hours"), live=LIVE)
