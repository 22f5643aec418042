"""Lists of alerts and of deliveries that are cut say so."""

from typing import get_args

from services.backbone.ledger.answers.overview import AtLeast, Overview
from services.backbone.ledger.answers.searching import Search
from services.backbone.ledger.answers.why import Answer
from services.backbone.ledger.rows import AlertDetail, AlertRow, Cut, DeliveryMark, Page
from services.console.now import COLUMNS, POINTS_LIMIT, Now
from services.console.parts.figures import figures
from services.console.people.roles import NOBODY
from services.console.rendering import render
from services.contracts.states import State

ALERT = "5faf0a92c1d84e6f9b7a3c2d1e0f4a5b"
BASE = {"title": "x", "here": "", "said": "", "may": lambda _: False, "person": NOBODY}


def alert(more: int = 0, acknowledged_at_ms: int | None = None) -> AlertRow:
    marks = [DeliveryMark("email", "desk@example.org", State.SENT)]
    return AlertRow(
        ALERT, "w", "info", "Something", 1, 2, 3, acknowledged_at_ms, 4, marks, more
    )  # fmt: skip


def lists(only: AlertRow) -> tuple[str, str]:
    """Return the first page and the list of alerts, with one alert."""
    overview = Overview({}, [], [], 0, AtLeast([], [], failed=False))
    now = Now(0, overview, (only,), figures=figures({}))
    first = render("now_part.html", now=now, lines=[], columns=COLUMNS, slots=POINTS_LIMIT)
    page = Page([only], None)
    return first, render("alerts.html", **BASE, page=page, search=Search(), spelled="")


def detail_page(*cut: Cut) -> str:
    why = Answer(ALERT, "w", "info", "Something", 2, 3, None, "r", "7d0c1e55", (), (), ())
    detail = AlertDetail(alert(), {}, "r", [], [], [], list(cut))
    return render(
        "alert.html", **BASE, detail=detail, why=why, declared=None, sentences={}, moments=[],
        event_ids=[], more_ids=0,
    )  # fmt: skip


def test_how_many_deliveries_are_left_out_is_told() -> None:
    for page in lists(alert(more=3)):
        assert '<span class="soft small">and 3 more</span>' in page
    for page in lists(alert()):
        assert "more</span>" not in page


def test_what_somebody_has_in_hand_is_marked() -> None:
    for page in lists(alert(acknowledged_at_ms=5)):
        assert '<span class="mark ready">acknowledged</span>' in page
    for page in lists(alert()):
        assert '<span class="mark ready">acknowledged</span>' not in page


def test_an_alert_page_that_is_cut_says_of_what() -> None:
    said = {
        "deliveries": "the newest 0; there are more",
        "attempts": "Of its tries the newest 0 are here; there are more.",
        "decisions": "Of its decisions the newest 0 are here; there are more.",
    }
    assert set(said) == set(get_args(Cut))
    for each in get_args(Cut):
        page = detail_page(each)
        assert {name for name, text in said.items() if text in page} == {each}
    assert "there are more" not in detail_page()
