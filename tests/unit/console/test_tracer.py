"""Traces beside one another: what fails for one holds up no other."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from services.backbone.clock import ManualClock
from services.backbone.errors import Transient
from services.backbone.kafka.consumer import Incoming
from services.backbone.kafka.trail import Places
from services.backbone.ledger.answers.reading import EVERYTHING, LedgerReader
from services.backbone.ledger.answers.searching import Search
from services.backbone.ledger.page_start import NEWEST, PageStart
from services.backbone.ledger.rows import AlertRow, Page
from services.backbone.service import Life
from services.console.tracing.lines import Line
from services.console.tracing.store import Trace, Traces
from services.console.tracing.tracer import FAILED_AGAIN_SECONDS, Tracer
from tests.unit.console.test_trace_reading import TRACE

BAD = replace(TRACE, trace_id="1" * 32, key="bad", is_on=True)
GOOD = replace(TRACE, trace_id="2" * 32, is_on=True)


class Kept(Traces):
    """Traces in memory, the two if no others are named."""

    def __init__(self, traces: Sequence[Trace] = (BAD, GOOD)) -> None:
        self._traces = traces
        self.steps: dict[str, list[str]] = {}

    def followed(self) -> list[Trace]:
        return list(self._traces)

    def alerts(self, trace_id: str, limit: int) -> dict[str, int]:
        return {}

    def add(self, trace_id: str, lines: Sequence[Line], places: Mapping[str, int]) -> bool:
        self.steps.setdefault(trace_id, []).extend(each.step for each in lines)
        return True


class Refusing(LedgerReader):
    """A ledger that has no alert, and cannot be asked for one key."""

    def __init__(self) -> None:
        pass

    def alerts(
        self,
        limit: int,
        after: PageStart = NEWEST,
        search: Search = EVERYTHING,
    ) -> Page[AlertRow]:
        if search.text == BAD.key:
            raise Transient("Postgres: it cannot look for this")
        return Page([], None)


class OneEvent:
    """Reads one event of a trace's key, once."""

    streams = ("things",)

    def __init__(self, trace: Trace, closed: list[str]) -> None:
        self.trace, self.closed = trace, closed
        self.places: Places = {"things/0": 0}

    def read(self, limit: int, seconds: float) -> tuple[int, list[Incoming]]:
        if self.places["things/0"]:
            return 0, []
        self.places = {"things/0": 1}
        return 1, [Incoming("things", 0, 0, self.trace.key.encode(), b"{}", TRACE.begun_at_ms)]

    def places_at(self, at_ms: int) -> Places:
        return self.places

    def close(self) -> None:
        self.closed.append(self.trace.key)


def test_a_trace_that_fails_is_dropped_and_the_others_go_on() -> None:
    traces, closed = Kept(), list[str]()
    life = Life(clock=ManualClock(TRACE.begun_at_ms))
    tracer = Tracer(traces, Refusing(), lambda trace: OneEvent(trace, closed), life)
    for tried in (1, 1, 2):
        assert tracer.round(), "there is more to read soon, whatever one of them meets"
        assert closed == [BAD.key] * tried, "the other one's reading stays open"
        life.clock.wait(life.stop, FAILED_AGAIN_SECONDS * 0.6)
    assert traces.steps == {GOOD.trace_id: ["accepted"]}


def test_where_none_can_be_followed_the_next_look_comes_later() -> None:
    traces, closed = Kept([BAD]), list[str]()
    life = Life(clock=ManualClock(TRACE.begun_at_ms))
    tracer = Tracer(traces, Refusing(), lambda trace: OneEvent(trace, closed), life)
    with pytest.raises(Transient, match="cannot look for this"):
        tracer.round()
