"""What is no part of a list does not stand among its JSON."""

import io
import json
from typing import Any

import pytest

from services.aldebaran.__main__ import carry_out, parser
from services.backbone.clock import ManualClock
from services.backbone.errors import Transient

ROW = {"at_ms": 1_000, "step": "FOUND", "detail": "by a"}
TRACE = {"trace_id": "t", "key": "o-1", "is_on": True, "ends_at_ms": 2_000}


class Api:
    """Tells of one trace, after an outage of two looks, and of one watch and a bad file."""

    def __init__(self) -> None:
        self._looks = 0

    def ask(self, _: str, path: str, **__: object) -> dict[str, Any]:
        if path == "/v1/watches":
            watch = {"watch": "w", "figures": None, "paused": True}
            return {"rows": [watch], "problems": ["bad.yaml, line 1"]}
        if path == "/v1/traces":
            return {"rows": [TRACE], "next_cursor": None}
        self._looks += 1
        if self._looks in (1, 2):
            raise Transient("no console answers")
        rows = [ROW] if self._looks == 3 else []
        over = TRACE | {"is_on": False, "is_closed": True}
        return {"rows": rows, "next_after": 1, "trace": over, "trouble": None}


def run(command: str) -> str:
    api: Any = Api()
    out = io.StringIO()
    assert carry_out(parser().parse_args(command.split()), api, ManualClock(), out) == 0
    return out.getvalue()


@pytest.mark.parametrize(
    ("command", "row", "remark"),
    [
        ("trace o-1", "by a", "# no console answers\n"),
        ("watch list", "w", "# bad.yaml, line 1\n"),
    ],
)
def test_remarks_are_beside_json_and_among_the_lines_for_people(
    command: str, row: str, remark: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(command).count(remark) == 1
    assert not capsys.readouterr().err
    (only,) = run(f"{command} --json").splitlines()
    assert row in json.loads(only).values()
    beside = capsys.readouterr().err
    assert beside.count(remark) == 1
    assert all(line.startswith("# ") for line in beside.splitlines())
