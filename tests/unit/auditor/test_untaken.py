"""What becomes of a change by what is found when it is tried."""

from collections.abc import Callable

import pytest

from auditor.changes.untaken import Untaken
from auditor.fleet import Fleet
from engine.brokers import MissingTopic
from services.backbone.clock import ManualClock
from services.backbone.errors import Refused, Transient

WAITS = "the change of watch w waits: "


def finding(error: Exception | None) -> Callable[[], str]:
    def work() -> str:
        if error is not None:
            raise error
        return "ready"

    return work


@pytest.mark.parametrize(
    ("error", "returned", "notes", "may_be_tried_later"),
    [
        (None, "ready", [], True),
        (Transient("brokers away"), None, [f"{WAITS}brokers away"], True),
        (MissingTopic("no topic t"), None, [f"{WAITS}no topic t"], True),
        (Refused("its SQL is wrong"), None, ["its SQL is wrong"], False),
    ],
)
def test_what_is_found_against_a_change_lets_it_wait_or_rejects_it(
    error: Exception | None, returned: str | None, notes: list[str], may_be_tried_later: bool
) -> None:
    clock = ManualClock()
    untaken = Untaken(Fleet(), clock)
    assert untaken.judge("w", finding(error)) == returned
    assert untaken.notes() == notes
    assert untaken.may_try("w") == (error is None)
    clock.move(1000)
    assert untaken.may_try("w") == may_be_tried_later
    untaken.try_all_again()
    assert untaken.may_try("w")
    assert untaken.notes() == []


def test_what_is_found_is_why_a_missing_watch_cannot_start() -> None:
    fleet = Fleet()
    fleet.miss("w", "too few slots")
    Untaken(fleet, ManualClock()).judge("w", finding(Transient("brokers away")))
    assert fleet.missing == {"w": "brokers away"}
