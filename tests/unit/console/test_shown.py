"""Times, spans and cursors as text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.backbone.ledger.page_start import PageStart
from services.console.shown import NOTHING, milliseconds, rate, share, size, span, utc


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (0, "0 ms"),
        (-5, "-5 ms"),
        (999, "999 ms"),
        (1000, "1.0 s"),
        (59_940, "59.9 s"),
        (60_000, "1 min"),
        (7_200_000, "2 h"),
        (172_800_000, "2 days"),
    ],
)
def test_a_span_has_the_unit_that_fits(milliseconds: int, text: str) -> None:
    assert span(milliseconds) == text


def test_times_are_utc_to_the_millisecond() -> None:
    assert utc(1_795_253_400_125) == "2026-11-21 09:30:00.125Z"


@given(st.integers(0, 10**17 - 1), st.from_regex(r"[0-9a-f]{32}", fullmatch=True))
def test_a_cursor_is_read_as_it_was_written(at_us: int, row_id: str) -> None:
    place = PageStart(at_us, row_id)
    assert PageStart.parse(str(place)) == place


@given(st.text())
def test_any_other_text_is_no_cursor(text: str) -> None:
    with pytest.raises(ValueError, match="cursor"):
        PageStart.parse(text)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.42, "0.4"), (9.96, "10"), (980, "980"), (999.6, "1.0k"), (12_345, "12.3k"),
     (2_500_000, "2.5M")],
)  # fmt: skip
def test_rates_fit_a_tile(value: float, text: str) -> None:
    assert rate(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.84, "0.8 ms"), (9.96, "10 ms"), (85.2, "85 ms"), (1234, "1.2 s")]
)
def test_latencies_have_two_digits(value: float, text: str) -> None:
    assert milliseconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.000312, "0.00031"), (0.418, "0.42"), (1.0, "1"), (1.66, "1.7"), (12.4, "12")],
)
def test_processors_have_two_digits(value: float, text: str) -> None:
    assert share(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 B"), (1023, "1023 B"), (3500, "3.4 KiB"), (18 * 2**20, "18 MiB"),
     (2**30 - 1, "1.0 GiB"), (5000 * 2**30, "5000 GiB")],
)  # fmt: skip
def test_sizes_have_the_unit_that_fits(value: float, text: str) -> None:
    assert size(value) == text


def test_what_was_not_measured_is_a_dash() -> None:
    assert {rate(None), milliseconds(None), share(None), size(None)} == {NOTHING}
