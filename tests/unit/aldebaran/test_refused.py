"""How the command line shows what was refused: by lines, and nothing of it moves the terminal."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.aldebaran.newest import PAGE_ROWS
from services.aldebaran.refused import lines, one_line
from tests.unit.aldebaran.newest_rows import Api, run

ROW: dict[str, Any] = {
    "at_ms": 0, "source": "http robot 7 0", "reason": "not_json", "detail": "at 1", "original": "{",
    "encoding": "utf-8", "size_bytes": 1, "cut": False,
}  # fmt: skip


def test_one_that_is_short_text() -> None:
    head = "1970-01-01 00:00:00.000Z not_json: at 1 [http robot 7 0]"
    assert lines(ROW) == f"{head}\n    {{\n"


def test_what_is_base64_or_cut_says_so() -> None:
    told = lines(ROW | {"encoding": "base64", "cut": True, "size_bytes": 9000, "original": "AA=="})
    assert told.endswith("    (base64; cut: only the beginning of 9000 bytes) AA==\n")


MANY = [ROW | {"original": f'{{"id": {number}}}'} for number in range(2 * PAGE_ROWS + 50)]


@pytest.mark.parametrize("limit", [1, PAGE_ROWS, PAGE_ROWS + 1, len(MANY), 10_000])
def test_more_than_a_page_is_told_page_after_page(limit: int) -> None:
    told = [json.loads(each) for each in run(Api(*MANY), f"rejected halls --json --limit {limit}")]
    assert told == MANY[:limit]
    remarks = [
        each for each in run(Api(*MANY), f"rejected halls --limit {limit}") if each[0] == "#"
    ]
    assert bool(remarks) == (limit < len(MANY))


class EarlierApi(Api):
    """A console of before, which goes on with no such list."""

    def ask(self, method: str, path: str, query: dict[str, Any]) -> dict[str, Any]:
        answer = super().ask(method, path, query)
        del answer["next_cursor"]
        return answer


def test_of_a_console_of_before_the_first_page_is_all() -> None:
    told = run(EarlierApi(*MANY), "rejected halls --json --limit 10000")
    assert len(told) == PAGE_ROWS


def test_originals_stand_the_oldest_first_and_only_what_the_stream_lacks(
    capsys: pytest.CaptureFixture[str],
) -> None:
    archived = ROW | {"original": "{}", "source": "archivist halls/0/7"}
    failed = ROW | {"original": "{}", "source": "watch over-heat"}
    binary = ROW | {"original": "MTIz", "encoding": "base64"}
    cut = ROW | {"original": '"x"', "cut": True}
    bus = ROW | {"original": '{\n "id":\t"b"\r\n}', "source": "amqp Halls 0"}
    api = Api(archived, MANY[2], ROW, failed, bus, binary, cut, MANY[1])
    assert run(api, "rejected halls --originals") == [
        '{"id": 1}',
        '{  "id": "b"  }',
        '{"id": 2}',
    ]
    assert capsys.readouterr().err == (
        "# 5 left out: in the stream already, over 64 KiB, or no JSON\n"
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON, st.sampled_from([None, "\t", 1]))
def test_an_event_on_one_line_says_the_same_and_moves_no_terminal(
    value: Any, indent: str | int | None
) -> None:
    line = one_line(json.dumps(value, indent=indent, ensure_ascii=False))
    assert line.isprintable()
    assert json.loads(line) == value
