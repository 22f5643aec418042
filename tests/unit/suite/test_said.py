"""What a program has written is read while it writes on: a line counts from when it is whole."""

import json

from hypothesis import given
from hypothesis import strategies as st

from tests.said import said, whole_lines

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


def test_what_others_write_beside_our_lines_is_left() -> None:
    log = 'WARN a library speaks\n{"event": "batch", "number": 1}\n{"event": "other"}\n\n'
    assert said(log, "batch") == [{"event": "batch", "number": 1}]
    assert len(said(log)) == 2
