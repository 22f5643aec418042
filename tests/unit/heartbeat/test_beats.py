"""Open, answered and missed beats against plain arithmetic, over random answers."""

from hypothesis import given
from hypothesis import strategies as st

from services.heartbeat.beats import AUDITORS_LIMIT, OPEN_LIMIT, Beats, Missed

SECONDS = st.floats(0, 100, allow_nan=False)


@given(st.lists(st.tuples(st.sampled_from(["a", "b"]), SECONDS), max_size=10))
def test_the_first_answer_of_each_auditor_counts_however_many_come(
    answers: list[tuple[str, float]],
) -> None:
    beats = Beats(in_time_seconds=10)
    beats.sent("beat", "watch", 0.0)
    firsts: dict[str, float] = {}
    for auditor, at in sorted(answers, key=lambda each: each[1]):
        expected = None if auditor in firsts else at
        assert beats.answered("beat", "watch", auditor, at) == expected
        firsts.setdefault(auditor, at)
        assert beats.answers("beat") == len(firsts)
    in_time = {auditor for auditor, at in firsts.items() if at <= 10}
    assert beats.auditors() == in_time


@given(st.lists(st.booleans(), min_size=1, max_size=50))
def test_every_beat_is_answered_in_time_or_missed_once(answered: list[bool]) -> None:
    beats = Beats(in_time_seconds=5)
    beats.sent("first", "watch", 0.0)
    beats.answered("first", "watch", "a", 0.1)
    missed: list[Missed] = []
    for number, answer in enumerate(answered, 1):
        beats.sent(f"beat-{number}", "watch", float(number))
        if answer:
            beats.answered(f"beat-{number}", "watch", "a", number + 0.5)
        missed += beats.missed(float(number))
    missed += beats.missed(1000.0)
    expected = [f"beat-{number}" for number, yes in enumerate(answered, 1) if not yes]
    assert [each.beat for each in missed] == expected
    assert {each.auditor for each in missed} <= {"a"}
    assert beats.waiting() == 0


def test_without_any_auditor_nobody_missed_it() -> None:
    beats = Beats(in_time_seconds=5)
    beats.sent("beat", "watch", 0.0)
    assert beats.missed(5.0) == []
    assert beats.missed(5.1) == [Missed("watch", "none", "beat")]
    assert beats.missed(6.0) == []


def test_a_late_answer_is_measured_and_still_missed() -> None:
    beats = Beats(in_time_seconds=5)
    beats.sent("beat", "watch", 0.0)
    beats.missed(6.0)
    assert beats.answered("beat", "watch", "a", 7.0) == 7.0
    assert beats.silent(["watch"], 7.0, 30.0) == ["watch"]


def test_answers_to_other_beats_and_watches_are_ignored() -> None:
    beats = Beats(in_time_seconds=5)
    beats.sent("beat", "watch", 0.0)
    assert beats.answered("another", "watch", "a", 1.0) is None
    assert beats.answered("beat", "other-watch", "a", 1.0) is None


def test_a_watch_is_silent_until_answered_and_again_after_the_limit() -> None:
    beats = Beats(in_time_seconds=5)
    assert beats.silent(["watch"], 0.0, 30.0) == ["watch"]
    beats.sent("beat", "watch", 0.0)
    beats.answered("beat", "watch", "b", 0.2)
    assert beats.silent(["watch"], 30.0, 30.0) == []
    assert beats.silent(["watch"], 30.3, 30.0) == ["watch"]


def test_who_takes_a_watch_to_be_something_else_is_in_step_anew() -> None:
    beats = Beats(in_time_seconds=5)
    for number, mark in enumerate(("old", "old", "new", "new")):
        beats.sent(f"beat-{number}", "watch", 2.0 * number)
        beats.answered(f"beat-{number}", "watch", "a", 2.0 * number + 0.5, mark)
        assert beats.marks() == {("watch", "a"): mark}
    assert beats.steps(7.0) == {("watch", "a"): 2.5}
    beats.forget("watch")
    assert beats.marks() == {}


def test_memory_and_labels_are_bounded() -> None:
    beats = Beats(in_time_seconds=5)
    for number in range(OPEN_LIMIT + 10):
        beats.sent(f"beat-{number}", "watch", 0.0)
    assert beats.waiting() == OPEN_LIMIT
    for number in range(AUDITORS_LIMIT + 10):
        beats.answered(f"beat-{OPEN_LIMIT}", "watch", f"auditor-{number}", 1.0)
    assert len(beats.auditors()) == AUDITORS_LIMIT


@given(st.lists(st.tuples(st.sampled_from(["one", "other"]), st.booleans()), max_size=20))
def test_a_forgotten_watch_leaves_nothing_and_touches_no_other(
    sent: list[tuple[str, bool]],
) -> None:
    both, only = Beats(in_time_seconds=5), Beats(in_time_seconds=5)
    for number, (watch, is_answered) in enumerate(sent):
        for beats in (both, only) if watch == "other" else (both,):
            beats.sent(f"beat-{number}", watch, 0.0)
            if is_answered:
                beats.answered(f"beat-{number}", watch, "a", 1.0)
    assert both.forget("one") == {"a" for watch, yes in sent if yes and watch == "one"}
    for each in (Beats.ages, Beats.steps, Beats.missed):
        assert each(both, 6.0) == each(only, 6.0)
    assert both.auditors() == only.auditors()
    assert both.waiting() == only.waiting()
