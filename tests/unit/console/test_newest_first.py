"""Who wants to read a topic while others do, and from which place on."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.backbone.clock import SystemClock
from services.backbone.kafka.consumer import Incoming
from services.backbone.kafka.newest import Room
from services.backbone.settings import KafkaSettings
from services.backbone.web.problems import Problem
from services.console.api.refused import CURSOR_LIMIT_CHARACTERS
from services.console.newest_first import (
    WAITING_AT_ONCE,
    Fitting,
    Found,
    NewestFirst,
    Searched,
    Wanted,
    cursor_text,
    read_cursor,
)

ASKING = 20
PAGE: Found[Incoming] = Found((), Searched(0, whole=True), None)


class Empty(NewestFirst):
    """Has nothing to read."""

    def _page(self, topic: str, wanted: Wanted, fitting: Fitting[Any]) -> Found[Any]:
        return PAGE


def all_of(records: Iterable[Incoming]) -> Iterator[Incoming]:
    yield from records


def test_most_who_ask_at_once_are_answered_while_another_still_reads() -> None:
    """Few wait, as they keep others' threads."""
    topics = Empty(KafkaSettings(), SystemClock(), Room(seconds=60.0))

    def ask() -> Found[Incoming]:
        return topics.page("trades.rejected", Wanted(1), all_of)

    with ThreadPoolExecutor(ASKING) as threads:
        with topics._turn:  # noqa: SLF001 - as a reader does
            asked = {threads.submit(ask) for _ in range(ASKING)}
            ended = as_completed(asked, timeout=30)
            answered = set(islice(ended, ASKING - WAITING_AT_ONCE))
        problems = [each.exception() for each in answered]
        assert {each.reason for each in problems if isinstance(each, Problem)} == {"topics_busy"}
        assert None not in problems
        assert [each.result() for each in asked - answered] == [PAGE] * WAITING_AT_ONCE
    assert ask() == PAGE


@given(st.dictionaries(st.integers(0, 999_999_999), st.integers(0, 2**63 - 1), max_size=9))
def test_a_place_comes_back_as_it_was_given(before: dict[int, int]) -> None:
    text = cursor_text(before)
    assert read_cursor(text) == before
    assert len(text) <= CURSOR_LIMIT_CHARACTERS


@pytest.mark.parametrize(
    "text", ["yesterday", "0-", "0-1.", "-1-2", "0-1-2", "0-\N{SUPERSCRIPT ONE}"]
)
def test_what_is_no_place_is_refused(text: str) -> None:
    with pytest.raises(Problem, match="bad_cursor"):
        read_cursor(text)
