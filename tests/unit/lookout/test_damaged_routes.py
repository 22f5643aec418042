"""A routes file with all keys, damaged anywhere: it is read, or refused with lines; never a bug."""

from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from services.lookout.decisions.explaining import explain
from services.lookout.routes.lint import Surroundings, lint
from services.lookout.routes.problems import BadRoutes
from services.lookout.routes.reading import Checked, Reading
from services.lookout.routes.watches import Raised, Watches
from tests.unit.lookout.samples import NOON, sample
from tests.unit.lookout.test_lint import GOOD
from tests.unit.lookout.test_routes_keys import CHANNELS, FULL, TEMPLATES

READING = Reading(CHANNELS, {"desk": "d@example.com", "other": "x"})
WORDS = sorted({word.strip("{}[]:,\"'-") for word in (FULL + GOOD + TEMPLATES).split()} - {""})
FILES = (FULL, GOOD, TEMPLATES)


def used(text: str) -> None:
    """Do with a file all that is done with one."""
    try:
        checked = READING.check(text, "routes.yaml", lambda name: "{{ alert.summary }}")
    except BadRoutes as error:
        problems = error.problems
    else:
        read(checked)
        return
    lines = text.count("\n") + 1
    assert problems
    assert all(1 <= each.line <= lines or each.file for each in problems)


def read(checked: Checked) -> None:
    watches = Watches({"cpu": Raised(("host",)), "over-heat": Raised()})
    around = Surroundings(datetime(2026, 11, 21, tzinfo=UTC), ("other",), watches)
    assert all(each.reason for each in lint(checked, around))
    routes = checked.routes()
    for watch in ("over-heat", "cpu"):
        assert "routed by" in explain(routes, sample(watch=watch), NOON)


@settings(max_examples=150)
@given(st.sampled_from(FILES), st.data())
def test_a_word_or_a_letter_in_place_of_another(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text) - 1))
    length = data.draw(st.integers(0, 12))
    instead = data.draw(st.sampled_from(WORDS) | st.text("-{}[]:,&*!\n \"'ax0", max_size=4))
    used(text[:at] + instead + text[at + length :])


@settings(max_examples=100)
@given(st.sampled_from(FILES), st.data())
def test_a_line_taken_out_or_moved(text: str, data: st.DataObject) -> None:
    lines = text.splitlines(keepends=True)
    line = lines.pop(data.draw(st.integers(0, len(lines) - 1)))
    if data.draw(st.booleans()):
        lines.insert(data.draw(st.integers(0, len(lines))), line)
    used("".join(lines))


@settings(max_examples=100)
@given(st.sampled_from(FILES), st.sampled_from(WORDS), st.sampled_from(WORDS))
def test_a_name_or_key_that_is_another(text: str, before: str, after: str) -> None:
    used(text.replace(before, after))
