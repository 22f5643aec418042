"""Who wants to read what was refused while others do: few wait, as they keep others' threads."""

from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import islice

from services.backbone.clock import SystemClock
from services.backbone.kafka.newest import Room
from services.backbone.settings import KafkaSettings
from services.backbone.web.problems import Problem
from services.console.aside import WAITING_AT_ONCE, Aside, RefusedPage, Searched, Wanted
from services.contracts.streams import SHIPPED_STREAMS

ASKING = 20
PAGE = RefusedPage("trades", (), Searched(0, whole=True), None)


class Empty(Aside):
    """Has nothing to read."""

    def _page(self, stream: str, wanted: Wanted) -> RefusedPage:
        return PAGE


def test_most_who_ask_at_once_are_answered_while_another_still_reads() -> None:
    aside = Empty(KafkaSettings(), SystemClock(), SHIPPED_STREAMS, Room(seconds=60.0))
    with ThreadPoolExecutor(ASKING) as threads:
        with aside._turn:  # noqa: SLF001 - as a reader does
            asked = {threads.submit(aside.newest, "trades", Wanted(1)) for _ in range(ASKING)}
            ended = as_completed(asked, timeout=30)
            answered = set(islice(ended, ASKING - WAITING_AT_ONCE))
        problems = [each.exception() for each in answered]
        assert {each.reason for each in problems if isinstance(each, Problem)} == {"topics_busy"}
        assert None not in problems
        assert [each.result() for each in asked - answered] == [PAGE] * WAITING_AT_ONCE
    assert aside.newest("trades", Wanted(1)) == PAGE
