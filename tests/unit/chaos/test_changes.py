"""What the kill matrix changes in watches fits the files that are shipped."""

import pytest

from services.contracts.declarations import parse_declaration
from services.contracts.watches import SHIPPED_WATCHES, WatchDeclaration
from tests.chaos.changes import CHANGES, Change


@pytest.mark.parametrize("change", CHANGES.values(), ids=[str(fault) for fault in CHANGES])
def test_a_change_makes_another_good_watch_and_can_be_taken_back(change: Change) -> None:
    text = (SHIPPED_WATCHES / f"{change.watch}.yaml").read_text("utf-8")
    assert text.count(change.before) == 1
    changed = text.replace(change.before, change.after)
    watches = [parse_declaration(WatchDeclaration, each, "w.yaml") for each in (text, changed)]
    assert watches[0] != watches[1]
    back = change.back()
    assert changed.replace(back.before, back.after) == text
