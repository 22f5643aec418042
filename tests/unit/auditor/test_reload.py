"""Changes of watches: what stops, what goes on, and when."""

import pytest
from prometheus_client import REGISTRY

from auditor import metrics
from auditor.queries.current import all_current
from auditor.recovery.blame import RowsToBlame
from engine.brokers import MissingTopic
from services.backbone.errors import Refused, Transient
from tests.unit.auditor.changing import OTHER, WATCH, World


def test_declared_watches_start_and_are_kept_for_the_next_start(world: World) -> None:
    assert world.queries(WATCH) == [True]
    assert world.queries(OTHER) == [True]
    assert all_current(world.settings.checkpoints_here()) == world.read().watches


def test_changed_text_goes_on_with_a_new_query_in_its_turn(world: World) -> None:
    assert world.partner.take()
    world.edit("severity: critical", "severity: warning")
    assert world.queries() == [True]
    world.partner.give_back()
    world.turns()
    assert world.queries() == [False, True]
    assert world.queries(OTHER) == [True]
    assert world.partner.take()


def test_changed_text_that_starts_no_more_gives_the_turn_on(world: World) -> None:
    world.refusal = Transient("no room on the disk")
    world.edit("severity: critical", "severity: warning")
    world.turns(count=20)
    assert world.queries() == [False, False]
    world.refusal = None
    world.edit("severity: warning", "severity: info", OTHER)
    assert world.queries(OTHER) == [False, True]
    assert "no room on the disk" in str(world.fleet.notes())
    assert world.partner.take()


def test_changed_rule_replaces_the_old_one_only_when_it_has_caught_up(world: World) -> None:
    world.edit("limit: 24 hours", "limit: 25 hours")
    assert world.queries() == [True, True]
    assert not world.partner.take()
    assert all_current(world.settings.checkpoints_here())[WATCH] != world.read().watches[WATCH]
    world.catch_up()
    assert world.queries() == [False, True]
    assert world.fleet.running[WATCH].supervised.watched.name == WATCH
    assert world.partner.take()
    assert all_current(world.settings.checkpoints_here())[WATCH] == world.read().watches[WATCH]


def test_a_rule_that_caught_up_is_told_its_watchs_length_while_its_batches_are_short(
    world: World,
) -> None:
    world.edit("limit: 24 hours", "limit: 25 hours")
    told = world.made[-1][1].told
    assert max(told, default=0) < 20
    world.catch_up()
    assert max(told, default=0) >= world.settings.auditor_batch_seconds / 2


def test_change_taken_back_ends_the_new_rule(world: World) -> None:
    world.edit("limit: 24 hours", "limit: 25 hours")
    world.edit("limit: 25 hours", "limit: 24 hours")
    assert world.queries() == [True, False]


def test_columns_of_a_book_that_change_places_are_a_changed_rule(world: World) -> None:
    requested = "    requested: IF(kind = 'request', shares, NULL)\n"
    purchased = "    purchased: IF(kind = 'purchase', shares, NULL)\n"
    world.edit(requested + purchased, purchased + requested)
    assert world.queries() == [True, True]
    world.edit(purchased + requested, requested + purchased)
    assert world.queries() == [True, False]


def test_new_rule_that_fails_for_good_is_rejected_and_the_old_goes_on(world: World) -> None:
    world.edit("limit: 24 hours", "limit: 25 hours")
    world.made[-1][1].remedies.error = Refused("watch x: its SQL fails")
    world.made[-1][1].queries[-1].fail("SQLSTATE: 22003")
    world.turns()
    assert world.queries() == [True, False]
    assert world.reload.notes() == "watch x: its SQL fails"
    assert world.partner.take()


def test_new_rule_that_fails_again_and_again_is_told_and_gives_the_turn_on(world: World) -> None:
    world.edit("limit: 24 hours", "limit: 25 hours")
    for _ in range(20):
        if world.reload.notes() is None:
            world.made[-1][1].queries[-1].fail("gone")
            world.turn()
    told = f"the change of watch {WATCH} waits: gone"
    assert world.reload.notes() == told
    assert world.queries() == [True, False]
    world.reload.look()
    assert world.partner.take()
    world.partner.give_back()
    world.turns(count=10)
    assert world.queries() == [True, False, True]
    assert world.reload.notes() == told
    world.catch_up()
    assert world.queries() == [False, False, True]
    assert world.reload.notes() is None


def test_what_spark_refuses_starts_nothing_until_it_is_changed(world: World) -> None:
    world.judgement = Refused("watch x: what to do: change it")
    world.edit("limit: 24 hours", "limit: 25 hours")
    tried = len(world.made)
    world.turns(count=20)
    assert len(world.made) == tried
    assert world.queries() == [True, False]
    assert world.reload.notes() == "watch x: what to do: change it"
    world.judgement = None
    world.edit("limit: 25 hours", "limit: 26 hours")
    assert world.reload.notes() is None
    assert world.queries() == [True, False, True]


def test_a_heartbeat_that_would_alert_people_starts_nothing(world: World) -> None:
    world.heartbeats = Refused("watch x: its heartbeat would alert people")
    world.edit("limit: 24 hours", "limit: 25 hours")
    assert world.queries() == [True, False]
    assert world.reload.notes() == "watch x: its heartbeat would alert people"


def test_too_few_slots_for_both_rules_is_a_rejection(world: World) -> None:
    world.copy("third")
    assert world.queries("third") == [True]
    world.edit("limit: 24 hours", "limit: 25 hours")
    assert "over-purchase beside itself 5" in str(world.reload.notes())
    assert world.queries() == [True, False]


def test_bad_file_stops_nothing(world: World) -> None:
    world.edit("severity: critical", "severity: loud")
    assert world.queries() == [True]
    assert "over-purchase.yaml, line " in str(world.reload.notes())
    assert REGISTRY.get_sample_value("aldebaran_auditor_bad_files") == 1
    world.edit("severity: loud", "severity: critical")
    assert REGISTRY.get_sample_value("aldebaran_auditor_bad_files") == 0


@pytest.mark.parametrize("end", ["takes over", "is taken back", "fails"])
def test_how_far_a_change_is_behind_is_shown_only_until_it_is_over(world: World, end: str) -> None:
    world.edit("limit: 24 hours", "limit: 25 hours")
    metrics.BEHIND.labels(WATCH).set(7)
    match end:
        case "takes over":
            world.catch_up()
        case "is taken back":
            world.edit("limit: 25 hours", "limit: 24 hours")
        case _:
            world.made[-1][1].remedies.error = Refused("its SQL fails")
            world.made[-1][1].queries[-1].fail("SQLSTATE: 22003")
            world.turns()
    assert world.partner.take()
    assert value("change_behind_records") is None


NOT_NOW = [Transient("brokers away"), MissingTopic("topic t does not exist")]


@pytest.mark.parametrize("reason", NOT_NOW)
def test_what_cannot_be_tried_now_waits_with_a_note_and_is_no_rejection(
    world: World, reason: Exception
) -> None:
    before = value("changes_rejected_total")
    world.judgement = reason
    world.edit("limit: 24 hours", "limit: 25 hours")
    world.turns()
    assert world.reload.notes() == f"the change of watch {WATCH} waits: {reason}"
    assert 3 <= len(world.queries()) <= 4
    assert world.queries()[0]
    assert not any(world.queries()[1:])
    world.judgement = None
    world.turns(count=25)
    assert world.queries()[-1]
    assert world.reload.notes() is None
    assert value("changes_rejected_total") == before


def test_a_change_that_waits_keeps_neither_the_turn_nor_another_watch(world: World) -> None:
    world.judgement = Transient("brokers away")
    world.edit("limit: 24 hours", "limit: 25 hours")
    world.edit("severity: warning", "severity: info", OTHER)
    assert world.queries(OTHER) == [False, True]
    assert world.partner.take()


def test_a_candidate_whose_topic_is_gone_is_asked_for_again(world: World) -> None:
    world.edit("limit: 24 hours", "limit: 25 hours")
    world.gone = MissingTopic("topic t does not exist")
    world.turns()
    world.gone = None
    assert world.reload.notes() == "topic t does not exist"
    assert world.queries() == [True, True]
    world.turns(count=20)
    assert world.reload.notes() is None
    world.catch_up()
    assert world.queries() == [False, True]


def test_what_found_no_slots_starts_when_another_watch_is_paused(world: World) -> None:
    world.copy("third")
    world.copy("fourth")
    assert "fourth 5" in str(world.reload.notes())
    tried = len(world.queries("fourth"))
    world.turns(count=20)
    assert not any(world.queries("fourth")) * tried
    world.edit("version: 1", "version: 1\npaused: true", OTHER)
    assert world.queries("fourth")[-1]
    assert world.reload.notes() is None


def test_what_found_no_slots_starts_when_a_rule_that_needs_fewer_has_taken_over(
    world: World,
) -> None:
    world.slots = {"third": 6, WATCH: 3}
    world.copy("third")
    world.edit("limit: 24 hours", "limit: 25 hours")
    assert "third 6" in str(world.reload.notes())
    world.catch_up()
    assert world.queries("third")[-1]
    assert world.reload.notes() is None


def test_a_missing_watch_is_wanted_until_it_starts(world: World) -> None:
    world.fleet.miss("third", "topic t does not exist")
    assert world.fleet.not_ready() == "watch third cannot start: topic t does not exist"
    world.judgement = Refused("watch third: too few slots")
    world.copy("third")
    assert world.fleet.not_ready() == "watch third cannot start: watch third: too few slots"
    world.judgement = None
    world.turns(world.read())
    assert world.fleet.not_ready() is None
    assert value("stopped", "third") == 0


def test_a_missing_watch_that_is_paused_is_wanted_no_more(world: World) -> None:
    world.judgement = Refused("watch third: too few slots")
    world.copy("third")
    world.fleet.miss("third", "too few slots")
    assert value("stopped", "third") == 1
    world.edit("version: 1", "version: 1\npaused: true", "third")
    assert world.fleet.not_ready() is None
    assert value("stopped", "third") is None


def test_rows_that_are_to_blame_are_refused_and_those_before_go_on(world: World) -> None:
    before = world.read().watches[WATCH]
    world.edit("severity: critical", "severity: warning")
    bad = world.made[-1][1]
    bad.remedies.error = RowsToBlame("limits.csv, line 3: with these rows the SQL fails", before)
    bad.queries[-1].fail("SQLSTATE: 22012")
    rejected = value("changes_rejected_total") or 0
    world.turns()
    assert world.queries() == [False, False, True]
    assert world.fleet.running[WATCH].declared == before
    assert all_current(world.settings.checkpoints_here())[WATCH] == before
    assert world.reload.notes() == "limits.csv, line 3: with these rows the SQL fails"
    assert value("changes_rejected_total") == rejected + 1
    assert value("stopped") == 0
    assert world.partner.take()
    world.partner.give_back()
    world.edit("severity: warning", "severity: info")
    assert world.reload.notes() is None
    assert world.queries() == [False, False, False, True]


def test_the_turn_is_kept_until_the_rows_before_are_seen_to_judge(world: World) -> None:
    before, own = world.read().watches[WATCH], world.answering
    world.answering = []
    world.edit("severity: critical", "severity: warning")
    bad = world.made[-1][1]
    bad.remedies.error = RowsToBlame("limits.csv, line 3", before)
    bad.queries[-1].fail("SQLSTATE: 22012")
    world.turns()
    assert world.fleet.running[WATCH].declared == before
    assert not world.partner.take()
    world.answering = own
    world.turns()
    assert world.partner.take()
    world.partner.give_back()


def test_rows_that_are_mended_meanwhile_are_no_rejection(world: World) -> None:
    before = world.read().watches[WATCH]
    world.edit("severity: critical", "severity: warning")
    bad = world.made[-1][1]
    bad.remedies.error = RowsToBlame("limits.csv, line 3", before)
    bad.remedies.may_end.clear()
    bad.remedies.ends_when_broken_off = False
    bad.queries[-1].fail("SQLSTATE: 22012")
    world.turns()
    world.edit("severity: warning", "severity: info")
    bad.remedies.may_end.set()
    world.turns()
    assert world.reload.notes() is None
    assert world.fleet.running[WATCH].declared == world.read().watches[WATCH]


EVENTS = ("failures", "lost_records", "spared_records", "changes_rejected", "full_books")


def test_what_may_come_to_a_watch_is_counted_from_nought_before_it_comes(world: World) -> None:
    world.judgement = Transient("the brokers are away")
    world.copy("counted")
    assert not any(world.queries("counted"))
    assert [value(f"{each}_total", "counted") for each in EVENTS] == [0] * len(EVENTS)


def test_watches_that_run_or_are_missing_are_counted_from_nought(world: World) -> None:
    running = world.fleet.running[WATCH]
    world.fleet.put("fifth", running)
    world.fleet.miss("sixth", "topic t does not exist")
    for watch in ("fifth", "sixth"):
        assert [value(f"{each}_total", watch) for each in EVENTS] == [0] * len(EVENTS)


def test_a_mended_watch_no_longer_counts_as_stopped(world: World) -> None:
    _, scene = next(made for made in world.made if made[0].name == WATCH)
    scene.remedies.error = Refused("its SQL fails")
    scene.queries[-1].fail("SQLSTATE: 22003")
    world.turns()
    assert value("stopped") == 1
    world.edit("severity: critical", "severity: warning")
    assert value("stopped") == 0


@pytest.mark.parametrize("after", ["paused: true", "severity: info"])
def test_a_change_lets_what_is_done_for_its_watch_end_and_keeps_no_other_waiting(
    world: World, after: str
) -> None:
    _, sick = next(made for made in world.made if made[0].name == WATCH)
    _, well = next(made for made in world.made if made[0].name == OTHER)
    sick.remedies.may_end.clear()
    sick.remedies.ends_when_broken_off = False
    sick.queries[-1].fail("SQLSTATE: 22003")
    world.turns()
    world.edit(*(("version: 1", f"version: 1\n{after}") if "paused" in after else EDITED))
    assert WATCH in world.fleet.running
    assert len(world.queries()) == 1
    well.queries[-1].fail("gone")
    world.turns()
    assert well.queries[-1].isActive
    sick.remedies.may_end.set()
    world.turns()
    assert world.queries() == ([False] if "paused" in after else [False, True])


EDITED = ("severity: critical", "severity: info")


def value(metric: str, watch: str = WATCH) -> float | None:
    return REGISTRY.get_sample_value(f"aldebaran_auditor_{metric}", {"watch": watch})
