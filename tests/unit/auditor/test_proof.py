"""Whether a query that took over judges: from what is known, however it comes to be known."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from auditor.changes.answers import who_answers
from auditor.changes.proof import (
    BEHIND_SECONDS_MAX,
    QUIET_SECONDS_MAX,
    Known,
    Proof,
    Verdict,
    decide,
)
from tests.unit.auditor.changing import WATCH, World, answer
from tests.unit.auditor.fakes import Scene

SECONDS = st.floats(min_value=0, max_value=2 * BEHIND_SECONDS_MAX)
KNOWN = st.builds(
    Known, st.booleans(), st.none() | SECONDS, st.booleans(), st.booleans(), st.booleans()
)
SINCE_MS = 1_700_000_000_000


@given(KNOWN)
def test_it_judges_only_by_proof_while_it_reads(known: Known) -> None:
    proven = known.answers or (known.has_ended_batch and not known.others_answer)
    can_prove = known.reading_seconds is not None and not known.is_hopeless
    assert (decide(known) is Verdict.JUDGES) == (proven and can_prove)


@given(KNOWN)
def test_one_that_is_hopeless_holds_up_nobody(known: Known) -> None:
    assert (decide(known) is Verdict.HOPELESS) == known.is_hopeless


@given(KNOWN)
def test_one_that_does_not_read_is_waited_for_unless_it_is_hopeless(known: Known) -> None:
    idle = replace(known, reading_seconds=None, is_hopeless=False)
    assert decide(idle) is Verdict.WAIT


@given(KNOWN)
def test_one_that_reads_is_waited_for_no_longer_than_the_limit(known: Known) -> None:
    limit_seconds = BEHIND_SECONDS_MAX if known.others_answer else QUIET_SECONDS_MAX
    silent = replace(
        known,
        is_hopeless=False,
        has_ended_batch=known.has_ended_batch and known.others_answer,
        answers=False,
    )
    waits = silent.reading_seconds is None or silent.reading_seconds < limit_seconds
    assert decide(silent) is (Verdict.WAIT if waits else Verdict.QUIET)


@given(KNOWN)
def test_an_answer_is_the_best_proof(known: Known) -> None:
    answered = decide(replace(known, answers=True))
    assert answered in (decide(known), Verdict.JUDGES)


@given(KNOWN, SECONDS)
def test_time_alone_takes_no_last_word_back(known: Known, more_seconds: float) -> None:
    if known.reading_seconds is None or decide(known) is Verdict.WAIT:
        return
    later = replace(known, reading_seconds=known.reading_seconds + more_seconds)
    assert decide(later) is decide(known)


def test_one_that_is_started_again_now_and_then_is_not_waited_for_for_ever(world: World) -> None:
    world.answering = ["partner"]
    scene = Scene(WATCH, most=100, clock=world.clock)
    running = replace(world.fleet.running[WATCH], supervised=scene.supervised)
    proof = Proof(world.scene, running, world.listen())
    seconds = 0
    while (found := proof.verdict()) is Verdict.WAIT:
        assert seconds < 2 * BEHIND_SECONDS_MAX
        scene.look(1)
        seconds += 1
    assert (found, len(scene.queries) > 1) == (Verdict.QUIET, True)


def test_changed_text_keeps_the_turn_until_its_query_has_answered(world: World) -> None:
    world.answering = []
    world.edit("severity: critical", "severity: warning")
    assert world.queries() == [False, True]
    assert not world.partner.take()
    world.answering = [world.settings.auditor_id]
    world.turns(count=2)
    assert world.partner.take()


def test_changed_text_waits_for_a_query_that_judges_later_than_its_partner(world: World) -> None:
    world.answering = ["partner"]
    world.edit("severity: critical", "severity: warning")
    world.turns(count=int(QUIET_SECONDS_MAX))
    assert not world.partner.take()
    world.answering = ["partner", world.settings.auditor_id]
    world.turns(count=2)
    assert world.partner.take()


def test_changed_text_without_heartbeats_gives_the_turn_on_after_a_while(world: World) -> None:
    world.answering = []
    world.edit("severity: critical", "severity: warning")
    world.turns(count=int(QUIET_SECONDS_MAX / 2))
    assert not world.partner.take()
    world.turns(count=int(QUIET_SECONDS_MAX / 2))
    assert world.partner.take()


def test_an_end_listens_no_more_and_gives_the_turn_back(world: World) -> None:
    world.answering = []
    world.edit("severity: critical", "severity: warning")
    world.reload.stop()
    assert [each.is_closed for each in world.listening] == [True]
    assert world.partner.take()


ANSWERS = st.tuples(
    st.sampled_from("ab"),
    st.sampled_from(["ours", "other"]),
    st.integers(SINCE_MS - 2, SINCE_MS + 2),
)


@given(st.lists(ANSWERS), st.lists(st.sampled_from([b"", b"{}", b"\xff"])))
def test_an_auditor_answers_by_telling_of_a_later_event_of_the_watch(
    told: list[tuple[str, str, int]], malformed: list[bytes]
) -> None:
    values = malformed + [answer(*each) for each in told]
    wanted = {a for a, watch, at_ms in told if watch == "ours" and at_ms >= SINCE_MS}
    assert who_answers(values, "ours", SINCE_MS) == wanted
