"""`alerts list --open`: what nobody has acknowledged, by a console that knows what that is."""

import io
from typing import Any

import pytest

from services.aldebaran.__main__ import carry_out, parser
from services.backbone.clock import ManualClock
from services.backbone.errors import Refused

ROW: dict[str, Any] = {
    "alert_id": "a" * 32, "watch": "w", "severity": "info", "summary": "over", "accepted_at_ms": 0,
    "deliveries": [], "more_deliveries": 0,
}  # fmt: skip


class Api:
    """A console with one alert."""

    def __init__(self, row: dict[str, Any]) -> None:
        self.row = row

    def ask(self, _: str, __: str, query: dict[str, Any]) -> dict[str, Any]:
        return {"rows": [self.row], "next_cursor": None}


def shown(row: dict[str, Any], *arguments: str) -> str:
    api: Any = Api(row)
    out = io.StringIO()
    carry_out(parser().parse_args(["alerts", "list", *arguments]), api, ManualClock(), out)
    return out.getvalue()


def test_a_console_of_before_which_lists_all_does_not_pass_for_one_of_now() -> None:
    assert "over" in shown(ROW)
    assert "over" in shown(ROW | {"acknowledged_at_ms": None}, "--open")
    with pytest.raises(Refused, match="older and does not know --open"):
        shown(ROW, "--open")


def test_a_tail_knows_no_open_ones() -> None:
    """Each one that is acknowledged would let an older one in, which would pass for a new one."""
    with pytest.raises(SystemExit):
        parser().parse_args(["alerts", "tail", "--open"])
