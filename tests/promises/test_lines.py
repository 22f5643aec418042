"""Every line of every promise has a test, and the documents say what the channels say."""

from pathlib import Path

import pytest

from services.deliverer.wiring import channel_names, promise_of
from tests.promises.document import PAGES, WORDS, renewed
from tests.promises.lines import LINES, UNPROVABLE, named, proofs


def test_every_line_of_every_channel_is_proven_by_a_test() -> None:
    names = channel_names()
    proven = {(each.channel, each.line) for each in proofs(names)}
    wanted = {(name, line) for name in names for line in LINES if line not in UNPROVABLE}
    unproven = sorted(wanted - proven)
    assert not unproven, f'mark a test with @pytest.mark.promise("line", "channel"): {unproven}'


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_is_up_to_date(page: Path) -> None:
    assert page.read_text("utf-8") == renewed(page), "run: make docs"


@pytest.mark.parametrize("name", channel_names())
def test_every_line_says_something(name: str) -> None:
    promise = promise_of(name)
    assert all(getattr(promise, line).strip() for line in LINES)
    assert set(WORDS) == set(LINES)


@pytest.mark.parametrize(
    "mark", [("in_doubt", "fax"), ("in-doubt", "sms"), ("not_promised", "sms"), ("in_doubt", "")]
)
def test_a_mark_that_names_nothing_is_refused(mark: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match="no line"):
        named(mark, channel_names())
