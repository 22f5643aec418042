"""Labels as lines of a form: nothing is dropped without a word, and a text means itself."""

from datetime import UTC, datetime
from functools import partial
from operator import ne

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.backbone.web.problems import Problem
from services.console.deeds.silences import match_of, written
from services.contracts.records import Alert, Severity
from services.lookout.routes.match_part import MatchPart

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
LABEL_TEXTS = st.text(
    st.sampled_from("a*?[]!=- \n\r\x85\u2028\t") | st.characters(codec="utf-8"), max_size=8
)
MADE_UP = Alert(
    alert_id="0" * 32, watch="w", severity=Severity.INFO, summary="s", key={"k": "v"},
    appended_at_ms=1, detected_at_ms=2, auditor="a",
)  # fmt: skip


def test_labels_are_lines() -> None:
    fields = {"watch": " cpu* ", "severity": "", "labels": "a=1\n\n b = 2=3 "}
    assert match_of(fields) == {"watch": "cpu*", "labels": {"a": "1", "b": "2=3"}}
    many = "\r\n".join(f"l{number}=x" for number in range(32))
    assert len(match_of({"labels": many})["labels"]) == 32
    for wrong, said in (
        ("no label", "NAME=VALUE"),
        ("=x", "NAME=VALUE"),
        ("a=1\na=2", "stands twice"),
        (f"{many}\nmore=x", "33 labels are too many"),
    ):
        with pytest.raises(Problem, match=said):
            match_of({"labels": wrong})


@given(st.dictionaries(LABEL_TEXTS, LABEL_TEXTS | st.none(), max_size=6), st.data())
def test_a_silence_from_an_alert_fits_it_and_no_other_values(
    labels: dict[str, str | None], data: st.DataObject
) -> None:
    lines = written(labels)
    match = MatchPart.model_validate(match_of({"labels": lines.lines.replace("\n", "\r\n")}))

    def fits(own: dict[str, str | None]) -> bool:
        return match.match({}).fits(MADE_UP.model_copy(update={"labels": own}), NOON)

    assert fits(labels)
    for name, value in labels.items():
        other = data.draw(LABEL_TEXTS.filter(partial(ne, value)))
        is_free = value is None or name in lines.left_out
        assert fits(labels | {name: other}) == is_free
