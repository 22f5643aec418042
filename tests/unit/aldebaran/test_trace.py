"""`trace` goes on to a trace's last line where that comes soon, and says where to look else."""

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.aldebaran.__main__ import carry_out, parser
from services.aldebaran.traces import CLOSING_SECONDS
from services.backbone.clock import ManualClock

ON_SECONDS = 5
CLOSING = {"step": "over", "detail": "the topics have been read up to the end of the trace"}


class Console:
    """Answers of a trace that is on for 5 s, gets a line each second, and is closed in time."""

    def __init__(self, closed_after: float, troubles: dict[int, str] | None = None) -> None:
        self.clock = ManualClock()
        self._begun = self.clock.monotonic_seconds()
        self._closed_after = closed_after
        self._troubles = troubles or {}

    @property
    def second(self) -> int:
        return int(self.clock.monotonic_seconds() - self._begun)

    def ask(self, _: str, path: str, **given: Any) -> dict[str, Any]:
        is_on = self.second < ON_SECONDS
        is_closed = self.second >= ON_SECONDS + self._closed_after
        trace = {"trace_id": "t", "key": "o-1", "ends_at_ms": 5_000}
        trace |= {"is_on": is_on, "is_closed": is_closed}
        if path == "/v1/traces":
            return {"rows": [trace], "next_cursor": None}
        written = [{"step": "accepted", "detail": f"number {n}"} for n in range(ON_SECONDS)]
        stand = [*written[: self.second + 1], *[CLOSING] * is_closed]
        new = [{"at_ms": 0, **each} for each in stand[given["query"]["after"] :]]
        trouble = self._troubles.get(self.second)
        return {"rows": new, "next_after": len(stand), "trace": trace, "trouble": trouble}


def run(command: str, console: Any) -> list[str]:
    out = io.StringIO()
    assert carry_out(parser().parse_args(command.split()), console, console.clock, out) == 0
    return out.getvalue().splitlines()


@given(st.integers(0, 2 * int(CLOSING_SECONDS)))
def test_it_ends_with_the_last_line_or_says_where_that_will_be(closed_after: int) -> None:
    console = Console(closed_after)
    told = run("trace o-1", console)
    assert [line for line in told if "number" in line][-1].endswith("number 4")
    assert told[-1].endswith("http://127.0.0.1:18080/traces/t")
    is_soon = closed_after <= CLOSING_SECONDS
    assert any(line.endswith(CLOSING["detail"]) for line in told) == is_soon
    assert ("still being read" in told[-1]) == (not is_soon)
    assert console.second == ON_SECONDS + min(closed_after, CLOSING_SECONDS)


def test_topics_that_cannot_be_read_are_told_once_in_each_outage() -> None:
    troubles = {2: "Kafka: away", 3: "Kafka: away", 6: "Kafka: no leader"}
    told = [line for line in run("trace o-1", Console(9, troubles)) if "cannot" in line]
    said = "# the topics cannot be read now: Kafka:"
    assert told == [f"{said} away", f"{said} no leader"]


def test_among_json_is_no_remark(capsys: pytest.CaptureFixture[str]) -> None:
    told = [json.loads(line) for line in run("trace o-1 --json", Console(9, {2: "away"}))]
    assert [each["step"] for each in told] == ["accepted"] * 5 + ["over"]
    assert capsys.readouterr().err.count("\n# ") == 1
