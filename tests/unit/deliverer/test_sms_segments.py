"""How long a text message is, and how it is cut."""

from operator import mul

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.contracts.twilio import body_code
from services.deliverer.channel import REPEAT_MARK, REPEAT_NOTE, Message
from services.deliverer.channels.sms.segments import (
    GSM_7,
    UCS_2,
    alphabet_of,
    fitted,
    plainer,
    segments,
)
from services.deliverer.channels.sms.wording import SUBJECT_LEAST, body
from tests.seen import Seen
from tests.unit.deliverer.builders import delivery

CHARACTERS = st.sampled_from("aZ0 @£é\n^{€日😀ж")
FITTED, CUT, LINKED = Seen(), Seen(), Seen()


def texts_of(characters: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Draw texts of which many have to be cut; left to itself hypothesis draws none."""
    runs = st.builds(mul, characters, st.integers(1, 200))
    return st.lists(characters | runs, max_size=12).map("".join)


TEXTS = texts_of(CHARACTERS)
TAIL = "\n#0123456789"


def by_the_book(text: str) -> int:
    """Count segments as the standard tells it: fill one after the other."""
    alphabet = alphabet_of(text)
    sizes = [alphabet.places(each) for each in text]
    if sum(sizes) <= alphabet.alone:
        return 1
    filled = [0]
    for size in sizes:
        if filled[-1] + size > alphabet.each:
            filled.append(0)
        filled[-1] += size
    return len(filled)


@given(TEXTS)
def test_segments_are_counted_as_the_standard_tells(text: str) -> None:
    assert segments(text) == by_the_book(text)
    assert alphabet_of(text) is (UCS_2 if set(text) & set("日😀ж") else GSM_7)


def test_known_lengths() -> None:
    assert [segments("a" * size) for size in (0, 160, 161, 306, 307)] == [1, 1, 2, 2, 3]
    assert [segments("ж" * size) for size in (70, 71, 134, 135)] == [1, 2, 2, 3]
    assert segments("€" * 80) == 1
    assert segments("a" + "€" * 80) == 2
    assert segments("a" * 152 + "€" + "a" * 152) == 3, "an escape is never split from its sign"


@FITTED.must_be("whole", "cut")
@given(TEXTS, st.integers(1, 10))
def test_what_is_fitted_keeps_its_limit_and_its_tail(text: str, limit: int) -> None:
    whole = fitted(text, TAIL, limit)
    assert segments(whole) <= limit
    assert whole.endswith(TAIL)
    if segments(text + TAIL) <= limit:
        FITTED.add("whole")
        assert whole == text + TAIL
    else:
        FITTED.add("cut")
        kept = whole.removesuffix("..." + TAIL)
        assert text.startswith(kept)


@CUT.must_be(GSM_7, UCS_2)
@given(TEXTS)
def test_no_more_is_cut_than_must_be(text: str) -> None:
    whole = fitted(text, TAIL, 1)
    kept = len(whole.removesuffix("..." + TAIL))
    if whole != text + TAIL and not text[kept].isspace():
        CUT.add(alphabet_of(whole))
        assert segments(text[: kept + 1] + "..." + TAIL) > 1


@pytest.mark.promise("our_id", "sms")
@given(st.text(max_size=512), st.text(max_size=4096), st.integers(1, 10))
def test_any_delivery_has_its_code_at_the_end(subject: str, text: str, limit: int) -> None:
    one = delivery(1).model_copy(update={"subject": subject, "text": text})
    written = body(one, limit)
    assert written.endswith("\n" + body_code(one.delivery_id))
    assert segments(written) <= limit
    assert len(written) <= 1600


def test_what_the_subject_says_is_not_said_again() -> None:
    one = delivery(1).model_copy(
        update={"subject": "[HIGH] too many: ten seen", "text": "ten seen\n\nwatch: “too-many”"}
    )
    first, second, code = body(one, 3).splitlines()
    assert (first, second) == ("[HIGH] too many: ten seen", 'watch: "too-many"')
    assert code == body_code(one.delivery_id)


@pytest.mark.parametrize(
    ("subject", "text", "lines"),
    [
        ("CRITICAL rack 12 at 95 of 80", "rack 1\nhall 2", ["rack 1", "hall 2"]),
        ("at 0.95 of -5", "5\n95\n0", ["5", "95", "0"]),
        ("[HIGH] rack 1: hot (95 of 80).", "rack 1\nhot\n95 of 80\nHIGH", []),
        ("rack 1", "rack 12 is hot", ["rack 12 is hot"]),
    ],
)
def test_only_what_stands_in_the_subject_word_for_word_is_not_said_again(
    subject: str, text: str, lines: list[str]
) -> None:
    one = delivery(1).model_copy(update={"subject": subject, "text": text})
    assert body(one, 3).splitlines()[:-1] == [subject, *lines]


LINK = "https://alerts.example.com/acknowledge/2026a." + "x" * 100


def test_a_link_at_the_end_goes_whole_or_not_at_all() -> None:
    long = "too many\n" + "watch: ten seen, nine allowed\n" * 20 + f"acknowledge: {LINK}"
    one = delivery(1).model_copy(update={"subject": "[HIGH] too many: ten seen", "text": long})
    code = body_code(one.delivery_id)
    assert body(one, 3).endswith(f"... {LINK}\n{code}")
    assert body(one, 3).startswith("[HIGH] too many: ten seen\nwatch")
    assert body(one, 10).endswith(f"\nacknowledge: {LINK}\n{code}")
    assert "https" not in body(one, 1)
    short = one.model_copy(update={"text": f"ten of nine\nacknowledge: {LINK}"})
    assert body(short, 1) == f"[HIGH] too many: ten seen\nten of nine\n{code}"


def test_for_a_link_the_subject_is_shortened() -> None:
    long = delivery(1).model_copy(update={"subject": "too many " * 50, "text": f"ack: {LINK}"})
    code = body_code(long.delivery_id)
    assert body(long, 2).startswith("too many " * 4)
    assert body(long, 2).endswith(f"... {LINK}\n{code}")


WORDS = texts_of(st.sampled_from("ab Z9.:\n€ж"))
LINKS = st.none() | st.integers(0, 250).map(lambda size: f"https://a.example/{'x' * size}")


@LINKED.must_be("after a cut", "left out")
@given(WORDS, WORDS, LINKS, st.booleans(), st.integers(1, 10))
def test_whatever_it_says_mark_link_and_code_outlive_the_cut(
    subject: str, text: str, link: str | None, marked: bool, limit: int
) -> None:
    one = delivery(1).model_copy(
        update={"subject": subject, "text": f"{text}\nacknowledge: {link}" if link else text}
    )
    written = body(Message(one, 2, marked).worded, limit)
    code = "\n" + body_code(one.delivery_id)
    assert segments(written) <= limit
    assert written.endswith(code)
    assert written.startswith(REPEAT_MARK) == marked
    assert written.count(REPEAT_MARK) == marked
    assert REPEAT_NOTE not in written
    if link and segments("ж" * SUBJECT_LEAST + f"... {link}" + code) <= limit:
        assert written.endswith(f"{link}{code}")
    if link and f"... {link}" in written:
        LINKED.add("after a cut")
    if link and link not in written:
        LINKED.add("left out")
        assert "https" not in written


def test_a_repeat_costs_its_mark_and_no_more() -> None:
    one = delivery(1).model_copy(update={"subject": "too many", "text": "too many: ten of nine"})
    first, again = body(one, 3), body(Message(one, 2, marked_repeat=True).worded, 3)
    assert again == REPEAT_MARK + first


def test_a_text_that_begins_with_the_subject_says_it_once() -> None:
    line = f"HIGH too-many: ten seen {LINK}"
    one = delivery(1).model_copy(update={"subject": "HIGH too-many", "text": line})
    assert body(one, 3) == f"{line}\n{body_code(one.delivery_id)}"


def test_typographic_signs_do_not_halve_the_room() -> None:
    assert alphabet_of(plainer("“Watch” — late…")) is GSM_7
    assert plainer("„9 °C” → `x`") == "\"9 degC\" -> 'x'"
