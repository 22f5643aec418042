"""A watch that could not start with its auditor begins, once it can, as it would have then."""

from collections.abc import Callable
from typing import Final

import pytest

from auditor.queries.declared import Declared
from engine.brokers import MissingTopic
from services.backbone.errors import Refused
from tests.unit.auditor.changing import World
from tests.unit.auditor.limited import BAD, CORRECTED, GOOD, LIMITED, WHY, Limited

LABEL: Final = "no_such_column"
ROWS: Final = {"same": GOOD, "new": CORRECTED, "refused": BAD}
WORDS: Final = {
    "same": ("", ""),
    "new": ("severity: warning", "severity: info"),
    "refused": ("\nlabels: [", f"\nlabels: [{LABEL}, "),
}
TOLD: Final = {"same": "", "new": "", "refused": f"the SQL does not return {LABEL}"}
GONE: Final = MissingTopic("topic trades does not exist")


def bad_label(declared: Declared) -> Exception | None:
    """As Spark does before brokers are asked for topics."""
    return Refused(TOLD["refused"]) if LABEL in declared.watch.labels else None


def without_topic(declared: Declared) -> Exception | None:
    return bad_label(declared) or (GONE if declared.name == LIMITED else None)


@pytest.fixture
def limited(world: World) -> Limited:
    return Limited(world)


def write_words(limited: Limited, words: tuple[str, str]) -> None:
    """Change the watch's file while nobody reads it."""
    path = limited.world.watches / f"{LIMITED}.yaml"
    text = path.read_text()
    assert words[0] in text
    path.write_text(text.replace(*words) if words[0] else text)


def starts_without_topic(limited: Limited) -> None:
    """Start the auditor while the watch's topic is gone for some seconds."""
    world = limited.world
    world.against = without_topic
    world.restart()
    assert world.fleet.missing == {LIMITED: str(GONE)}
    world.against = bad_label
    # Spark is not asked about a state that it took: here it would refuse it.
    world.judgement = Refused("it was asked")
    world.turns(count=60)


def starts_without_slots(limited: Limited) -> None:
    """Start the auditor where the watch needs too many slots, until a file changes."""
    world = limited.world
    world.against = bad_label
    world.slots[LIMITED] = world.settings.auditor_slots + 1
    world.restart()
    assert set(world.fleet.missing) == {LIMITED}
    world.slots[LIMITED] = 1
    world.judgement = Refused("it was asked")
    world.turns(world.read(), count=60)


def starts(limited: Limited) -> None:
    limited.world.against = bad_label
    limited.world.restart()
    limited.world.turns(count=60)


@pytest.mark.parametrize("start", [starts, starts_without_topic, starts_without_slots])
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("words", WORDS)
def test_what_runs_in_the_end_is_what_a_start_runs(
    limited: Limited, words: str, rows: str, start: Callable[[Limited], None]
) -> None:
    write_words(limited, WORDS[words])
    limited.write_unseen(ROWS[rows])
    start(limited)
    is_refused = "refused" in (words, rows)
    declared = limited.world.read().watches[LIMITED]
    assert limited.runs() == (limited.before if is_refused else declared)
    assert limited.world.fleet.missing == {}
    notes = limited.world.reload.notes()
    assert notes == ((WHY if rows == "refused" else TOLD[words]) if is_refused else None)


def test_rows_stay_refused_at_the_start_after_it(limited: Limited) -> None:
    starts_without_topic(limited)
    limited.made = len(limited.world.queries(LIMITED))
    limited.assert_refused()
    assert limited.opens() == limited.before


def test_a_pause_meanwhile_forgets_what_was_refused(limited: Limited) -> None:
    world = limited.world
    world.against = without_topic
    world.restart()
    world.edit("version: 1", "version: 1\npaused: true", LIMITED)
    world.against = bad_label
    world.edit("paused: true\n", "", LIMITED)
    assert world.reload.notes() is None
    assert limited.runs().rules[-1] == ("Bob", "ACME", 0)


def test_spark_is_asked_about_another_rule(limited: Limited) -> None:
    rule = ("sums.bought > rules.most_shares", "sums.bought * 2 > rules.most_shares")
    write_words(limited, rule)
    starts_without_topic(limited)
    assert LIMITED not in limited.world.fleet.running
    assert limited.world.reload.notes() == "it was asked"
