"""What a program has written is read while it writes on: a line counts from when it is whole."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from tests.said import said, whole_lines, written_to

events = st.lists(st.sampled_from(["started", "batch", "stopped \u2028 \x85 {"]), max_size=5)


@given(events, st.data())
def test_wherever_a_log_ends_its_whole_lines_are_read(
    events: list[str], data: st.DataObject
) -> None:
    lines = [json.dumps({"event": each}, ensure_ascii=False) for each in events]
    log = "".join(f"{line}\n" for line in lines)
    ends = data.draw(st.integers(0, len(log)))
    whole = log.count("\n", 0, ends)
    assert whole_lines(log[:ends]) == lines[:whole]
    assert [each["event"] for each in said(log[:ends])] == events[:whole]


@given(events, st.data())
def test_a_file_that_ends_within_a_character_is_read(
    events: list[str], data: st.DataObject
) -> None:
    lines = [f"{each} über €" for each in events]
    written = "".join(f"{line}\n" for line in lines).encode()
    ends = data.draw(st.integers(0, len(written)))
    with TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        log.write_bytes(written[:ends])
        assert whole_lines(written_to(log)) == lines[: written.count(b"\n", 0, ends)]


def test_what_others_write_beside_our_lines_is_left() -> None:
    log = 'WARN a library speaks\n{"event": "batch", "number": 1}\n{"event": "other"}\n\n'
    assert said(log, "batch") == [{"event": "batch", "number": 1}]
    assert len(said(log)) == 2
