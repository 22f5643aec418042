"""Links: only what we signed opens, each for one delivery, until its time is over."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr, ValidationError

from services.backbone.web.links import (
    Expired,
    Forged,
    Links,
    LinkSettings,
    Ticket,
    acknowledge_url,
    open_links,
)

NOW_MS = 1_795_253_400_000
DAY_MS = 86_400_000
OLD, NEW = b"o" * 32, b"n" * 32
LINKS = Links({"new": NEW, "old": OLD}, days=7)
ids = st.binary(min_size=16, max_size=16).map(bytes.hex)


@given(ids, st.integers(0, 4_000_000_000_000), st.integers(0, 7 * DAY_MS - 1001))
def test_a_link_opens_what_it_was_made_for(delivery: str, now_ms: int, later_ms: int) -> None:
    token = LINKS.token(delivery, now_ms)
    ends_ms = (now_ms // 1000) * 1000 + 7 * DAY_MS
    assert LINKS.read(token, now_ms + later_ms) == Ticket(delivery, ends_ms)
    with pytest.raises(Expired, match="newer message"):
        LINKS.read(token, ends_ms)


@given(ids, st.data())
def test_no_changed_link_opens_anything(delivery: str, data: st.DataObject) -> None:
    token = LINKS.token(delivery, NOW_MS)
    place = data.draw(st.integers(0, len(token) - 1))
    letter = data.draw(st.characters(codec="ascii", exclude_characters=token[place]))
    changed = token[:place] + letter + token[place + 1 :]
    with pytest.raises(Forged):
        LINKS.read(changed, NOW_MS)


@given(st.text(max_size=400))
def test_no_other_text_opens_anything(text: str) -> None:
    with pytest.raises(Forged, match="open it from the message again"):
        LINKS.read(text, NOW_MS)


def test_an_unknown_secret_opens_nothing_not_even_an_empty_one() -> None:
    for secrets in ({"new": b"x" * 32}, {"other": NEW}, {"": b""}, {"none": b""}):
        with pytest.raises(Forged):
            LINKS.read(Links(secrets).token("0" * 32, NOW_MS), NOW_MS)


def test_secrets_are_changed_without_closing_links_that_are_out() -> None:
    before = Links({"old": OLD}).token("a" * 32, NOW_MS)
    assert LINKS.read(before, NOW_MS).delivery_id == "a" * 32
    assert LINKS.token("a" * 32, NOW_MS).startswith("new.")
    with pytest.raises(Forged):
        Links({"new": NEW}).read(before, NOW_MS)


def test_a_link_is_short_enough_for_a_text_message() -> None:
    url = acknowledge_url("https://alerts.example.com/", LINKS.token("a" * 32, NOW_MS))
    assert url.startswith("https://alerts.example.com/acknowledge/new.")
    assert len(url) < 100


def test_settings_make_links_only_with_a_secret_that_is_one() -> None:
    assert open_links(LinkSettings()) is None
    assert open_links(LinkSettings(link_secrets={"a": SecretStr("s" * 32)})) is not None
    with pytest.raises(ValidationError):
        LinkSettings(link_secrets={"a": SecretStr("short")})
    with pytest.raises(ValidationError):
        LinkSettings(callbacks_public_url="alerts.example.com")
