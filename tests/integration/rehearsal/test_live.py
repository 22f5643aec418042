"""A watch tried over real events by the real program finds what a live auditor has found."""

import re
import threading

import pytest

from services.backbone.clock import SystemClock
from services.contracts.rehearsals import Answer, Rehearsal
from services.rehearsal.settings import RehearsalSettings
from services.rehearsal.trying import Trying
from tests.integration.auditor.conftest import place
from tests.integration.auditor.running import Findings, Place, Sender

__all__ = ["place"]
pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.timeout(900)]

PATIENT = {"rehearsal_seconds": 400, "rehearsal_version_seconds": 300, "rehearsal_niceness": 0}
"""Bounds are tested by themselves: a machine that is busy with other tests is no reason here."""


@pytest.fixture
def told(place: Place, monkeypatch: pytest.MonkeyPatch) -> Sender:
    """Declare a place, and let this process' environment lead there."""
    place.declare("over-purchase", "unusual-volume")
    for name, value in place.environment().items():
        monkeypatch.setenv(name, value)
    return Sender(place)


def text(place: Place, watch: str) -> str:
    return (place.folder / "watches" / f"{watch}.yaml").read_text()


def rehearse(place: Place, new: str, live: str | None = None, **settings: int) -> Answer:
    told = {**PATIENT, **settings}
    at = RehearsalSettings(kafka_bootstrap_servers=place.bootstrap, **told)  # type: ignore[arg-type]  # as given
    return Trying(at, SystemClock(), threading.Event()).answer(Rehearsal(new=new, live=live))


def send(sender: Sender) -> None:
    """Send books that are over their request, and purchases that are unusual only for a while."""
    for number in range(6):
        sender.request(f"o{number}", 10)
        sender.purchase(f"o{number}-p", f"o{number}", 10 + number % 3, client=f"C{number}")
    for number in range(8):
        sender.purchase(f"v{number}", "volume", 1000 if number == 6 else 1, client="Eve")
    sender.purchase("v-large", "volume", 100_000, client="Eve")
    sender.event("request", "~beat-1", "~beat-1", 1, beat=True)
    sender.purchase("~beat-1-p", "~beat-1", 2, beat=True)
    sender.raw(b"no event at all")
    sender.flush()


def test_it_finds_what_a_live_auditor_has_found_and_tells_nobody(
    place: Place, told: Sender
) -> None:
    alerts = Findings(place)
    with place.auditor() as auditor:
        auditor.wait_until_ready()
        send(told)
        alerts.wait_for("o1", "o2", "o4", "o5", "Eve/ACME/v6", "Eve/ACME/v-large")
        assert auditor.terminate() == 0
    alerts.found()
    for watch in ("over-purchase", "unusual-volume"):
        answer = rehearse(place, text(place, watch))
        first = {each.alert_id: each.summary for each in reversed(alerts.alerts)}
        own = {each.alert_id for each in alerts.alerts if each.watch == watch}
        raised = {each.alert_id: each.summary for each in answer.raised}
        assert raised == {name: told for name, told in first.items() if name in own}
        assert answer.looked is not None
        assert answer.looked.events == answer.looked.wanted == 24
        assert answer.new is not None
        assert (answer.new.cut, answer.new.malformed) == ("", 1)
        assert answer.room.startswith("needs ")
    assert not list(alerts.fresh())


@pytest.mark.long
def test_a_changed_watch_is_shown_beside_the_live_one(place: Place, told: Sender) -> None:
    send(told)
    live = text(place, "over-purchase")
    new = live.replace(
        "judged.purchased > judged.requested", "judged.purchased > judged.requested + 1"
    )
    new = new.replace("most_purchased > least_requested", "most_purchased > least_requested + 1")
    answer = rehearse(place, new, live)
    by = {each.key["order_id"]: each.by for each in answer.raised}
    assert by == {"o1": "live", "o4": "live", "o2": "both", "o5": "both"}
    assert answer.counts == {"new": 0, "live": 2, "both": 2}
    cut = rehearse(place, live, rehearsal_records=5)
    assert cut.looked is not None
    assert cut.looked.events <= 5 < cut.looked.wanted


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("severity: critical", "severity: loud", "watch.yaml, line 59: severity"),
        (
            "WHERE worst IS NOT NULL",
            "WHERE worst IS NOT NULL ORDER BY order_id",
            "do not sort",
        ),
        (
            "SELECT order_id, client, stock, worst.requested",
            "SELECT java_method('java.lang.System', 'getenv', 'PATH') AS order_id, client, stock, "
            "worst.requested",
            "calls java_method; it may read events only",
        ),
    ],
)  # fmt: skip
def test_what_cannot_run_is_refused_with_what_to_do(
    place: Place, told: Sender, before: str, after: str, said: str
) -> None:
    changed = text(place, "over-purchase").replace(before, after)
    answer = rehearse(place, changed)
    assert re.search(said, answer.refused), answer
