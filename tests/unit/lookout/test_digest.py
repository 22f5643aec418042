"""A digest names every alert that fits, says how many do not, and always fits a delivery."""

from hypothesis import given
from hypothesis import strategies as st

from services.contracts.ids import delivery_id
from services.contracts.records import Alert, Delivery, Severity
from services.lookout.templates.digest import digest_message
from services.lookout.templates.rendering import render
from tests.unit.lookout.samples import alerts, sample


def test_a_digest_reads_so() -> None:
    told = [
        sample(1, severity=Severity.WARNING),
        sample(2, severity=Severity.CRITICAL, detected_at_ms=1_795_253_401_000),
        sample(3, severity=Severity.INFO, watch="cpu"),
    ]
    subject, text = digest_message([(render(each).subject, each) for each in told], "email")
    assert subject == "[CRITICAL] 3 alerts: 2 of over-limit, 1 of cpu"
    assert text.splitlines() == [
        "3 alerts, detected 2026-11-21T09:30:00.128Z to 2026-11-21T09:30:01.000Z",
        "",
        f"[CRITICAL] over-limit: finding 2 ({told[1].alert_id})",
        f"[WARNING] over-limit: finding 1 ({told[0].alert_id})",
        f"[INFO] cpu: finding 3 ({told[2].alert_id})",
    ]


@given(st.lists(st.tuples(st.text(max_size=600), alerts()), min_size=2, max_size=300))
def test_it_fits_whatever_it_tells(told: list[tuple[str, Alert]]) -> None:
    subject, text = digest_message(told, "email")
    alert = told[0][1]
    made = delivery_id(alert.alert_id, "email", "a")
    Delivery(
        delivery_id=made, channel="email", recipient="a", subject=subject, text=text,
        created_at_ms=0, alert=alert,
    )  # fmt: skip
    lines = text.splitlines()[2:]
    left_out = int(lines[-1].split()[1]) if lines[-1].startswith("and ") else 0
    assert len(lines) - bool(left_out) + left_out == len(told)


def test_what_is_left_out_is_never_worse_than_what_it_says() -> None:
    mild = [sample(number, severity=Severity.INFO) for number in range(200)]
    told = [(render(each).subject, each) for each in [*mild, sample(200)]]
    lines = digest_message(told, "email")[1].splitlines()[2:]
    assert lines[0].startswith("[CRITICAL] over-limit: finding 200 ")
    assert lines[1].startswith("[INFO] over-limit: finding 0 ")
    assert lines[-1] == f"and {len(told) - len(lines) + 1} more"


def test_a_short_channel_gets_one_line() -> None:
    told = [(render(each).subject, each) for each in (sample(1), sample(2, watch="cpu"))]
    subject, text = digest_message(told, "sms")
    assert subject == text == "[CRITICAL] 2 alerts: 1 of over-limit, 1 of cpu"
