"""What people read: bounded, one subject line, nothing that steers a terminal or a header."""

from hypothesis import given
from hypothesis import strategies as st

from services.contracts.records import TEXT_LIMIT_CHARACTERS, Alert, Delivery
from services.lookout.templates.rendering import Links, cut, iso, one_line, render
from tests.unit.lookout.samples import sample

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=400)
NAMED = st.dictionaries(TEXT, TEXT, max_size=10)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | NUMBERS | TEXT,
    lambda each: st.lists(each, max_size=5),
)
ANY_ALERT = st.builds(
    sample,
    st.integers(),
    summary=TEXT | st.just("long " * 800),
    key=st.dictionaries(TEXT, TEXT, min_size=1, max_size=10),
    labels=NAMED,
    values=st.dictionaries(TEXT, VALUES, max_size=10),
    event_ids=st.lists(TEXT, max_size=40),
    appended_at_ms=st.integers(0, 253_402_300_799_999),
)


@given(ANY_ALERT)
def test_every_alert_gives_a_message_that_fits_a_delivery(alert: Alert) -> None:
    links = Links("https://alerts.example.com/" + "a" * 240, "https://example.com/" + "b" * 220)
    with_links = render(alert, links)
    assert len(with_links.text) <= TEXT_LIMIT_CHARACTERS
    assert f"more: {links.alert}" in with_links.text
    message = render(alert)
    Delivery(
        delivery_id="0" * 32,
        channel="email",
        recipient="desk@example.com",
        subject=message.subject,
        text=message.text,
        created_at_ms=0,
        alert=alert,
    )
    assert message.subject.isprintable()
    assert all(line.isprintable() for line in message.text.split("\n"))
    assert alert.alert_id in message.text
    assert message == render(Alert.decode(alert.encode()))


def test_a_message_in_full() -> None:
    alert = sample(
        7,
        summary="too\nhot",
        labels={"zone": "north", "rack": None},
        values={"celsius": 91.5, "limit": 80},
        event_ids=[f"e{number}" for number in range(22)],
    )
    message = render(alert)
    assert message.subject == "[CRITICAL] over-limit: too hot"
    lines = message.text.split("\n")
    assert lines[:2] == ["too hot", ""]
    assert "  celsius: 91.5" in lines
    assert "  and 2 more" in lines
    assert "newest event: 2026-11-21T09:30:00.125Z" in lines


def test_cutting_shows_that_something_is_left_out() -> None:
    assert cut("abcdef", 6) == "abcdef"
    assert cut("abcdefg", 6) == "abcde…"
    assert one_line(" a\r\nb\tc\x1b[31m ") == "a b c [31m"
    assert iso(0) == "1970-01-01T00:00:00.000Z"
