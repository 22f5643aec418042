"""The short text: one line of at most 160 letters of the GSM set, whatever the alert holds."""

from hypothesis import given
from hypothesis import strategies as st

from services.contracts import gsm
from services.contracts.records import Alert
from services.lookout.templates.gsm import fitted, plain
from services.lookout.templates.rendering import Links
from services.lookout.templates.short import short
from tests.unit.lookout.samples import sample
from tests.unit.lookout.test_rendering import ANY_ALERT

# The set as it stands in GSM 03.38, by its code points.
GSM = {chr(code) for code in (*range(0x20, 0x5F), *range(0x61, 0x7B), 0xA, 0xD, 0x5F)} - set(
    "[\\]^"
)
GSM |= {chr(c) for c in (0x40, 0xA3, 0x24, 0xA5, 0xE8, 0xE9, 0xF9, 0xEC, 0xF2, 0xC7, 0xD8, 0xF8)}
GSM |= {chr(c) for c in (0xC5, 0xE5, 0x394, 0x3A6, 0x393, 0x39B, 0x3A9, 0x3A0, 0x3A8, 0x3A3)}
GSM |= {chr(c) for c in (0x398, 0x39E, 0xC6, 0xE6, 0xDF, 0xC9, 0xA4, 0xA1, 0xC4, 0xD6, 0xD1, 0xDC)}
GSM |= {chr(c) for c in (0xA7, 0xBF, 0xE4, 0xF6, 0xF1, 0xFC, 0xE0)}
TWO = set("^{}\\[~]|€")


def places(text: str) -> int:
    assert set(text) <= GSM | TWO, set(text) - GSM - TWO
    return sum(1 + (letter in TWO) for letter in text)


@given(ANY_ALERT, st.sampled_from(("", "https://example.com/a/" + "x" * 40)))
def test_it_fits_one_sms(alert: Alert, link: str) -> None:
    message = short(alert, Links(link))
    assert places(message.text) <= 160
    assert message.text.startswith(alert.severity.upper())
    assert message.text.endswith(link)
    assert "\n" not in message.text
    assert places(message.subject) <= 160


@given(ANY_ALERT, st.integers(100, 400))
def test_a_long_link_is_whole_and_the_text_beside_it_stays_short(alert: Alert, length: int) -> None:
    link = "https://".ljust(length, "x")
    text = short(alert, Links(link)).text
    assert text.endswith(f" {link}")
    assert text.startswith(alert.severity.upper())
    assert places(text) <= max(160, 60 + length + 1)


@given(st.text(), st.integers(2, 170))
def test_what_is_cut_fits_and_nothing_is_cut_that_fits(text: str, limit: int) -> None:
    assert gsm.places(fitted(text, limit)) <= limit
    if gsm.places(plain(text)) <= limit:
        assert fitted(text, limit) == plain(text)


def test_it_holds_the_essential_numbers() -> None:
    alert = sample(
        summary="9 °C “over” \N{EN DASH} café",
        values={"celsius": 91.4567891, "limit": 80, "a": "b"},
    )
    assert short(alert).text == (
        'CRITICAL over-limit: 9 degC "over" - café celsius=91.4568 limit=80'
    )
    assert short(alert).subject == "CRITICAL over-limit"
    assert plain("ÀÊñ漢🙂\N{COMBINING ACUTE ACCENT}") == "AEñ??"
    assert plain("„a” \N{MINUS SIGN}1 •") == '"a" -1 *'


def test_a_large_number_keeps_its_whole_part() -> None:
    values = {"purchased": 1000001.0, "requested": 1000000.0, "owed": -123456789.5}
    assert short(sample(values=values)).text.endswith(
        " purchased=1000001 requested=1000000 owed=-123456790"
    )
    values = {"edge": 99999.96, "huge": 1e15, "endless": float("inf"), "small": 1.5}
    assert short(sample(values=values)).text.endswith(
        " edge=100000 huge=1e+15 endless=inf small=1.5"
    )
