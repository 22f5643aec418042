"""Breakers against a simple model, over random outcomes and times."""

import random

from hypothesis import given
from hypothesis import strategies as st

from services.backbone.backoff import Backoff
from services.deliverer.breaker import DESTINATIONS_LIMIT, Breakers, Send
from services.deliverer.outcomes import Accepted, Outcome, Permanent, Refused, Unknown

LIMIT = 3
DOWN = Refused("connection refused", destination_down=True)
OUTCOMES: st.SearchStrategy[Outcome] = st.sampled_from(
    [Accepted(), Permanent(""), Refused(""), DOWN, Unknown("")]
)
MOSTLY_DOWN: st.SearchStrategy[Outcome] = st.one_of(st.just(DOWN), OUTCOMES)
COOLDOWN = Backoff(first_seconds=10.0, limit_seconds=40.0)
TOLD_SECONDS = 100.0


def new_breakers() -> Breakers:
    return Breakers(LIMIT, COOLDOWN, random.Random(1), TOLD_SECONDS)


@given(st.lists(OUTCOMES))
def test_it_opens_exactly_after_enough_failures_in_a_row(outcomes: list[Outcome]) -> None:
    breakers = new_breakers()
    in_a_row = 0
    for outcome in outcomes:
        breakers.note("x", Send(outcome, 0.0, 0.0))
        failed = outcome == DOWN or isinstance(outcome, Unknown)
        in_a_row = in_a_row + 1 if failed else 0
        assert breakers.closed("x") == (in_a_row < LIMIT)
        assert breakers.closed("other")


def test_one_probe_at_a_time_decides() -> None:
    breakers = new_breakers()
    for _ in range(LIMIT):
        breakers.note("x", Send(DOWN, 0.0, 0.0))
    assert breakers.due_probes(0.0) == []
    assert breakers.due_probes(10.0) == ["x"]
    breakers.probe("x")
    assert breakers.due_probes(10.0) == []
    breakers.note("x", Send(DOWN, 10.0, 10.0))
    assert breakers.due_probes(19.0) == []
    assert breakers.due_probes(30.0) == ["x"]
    breakers.probe("x")
    breakers.note("x", Send(Accepted(), 30.0, 30.0))
    assert breakers.closed("x")


@given(st.integers(LIMIT, 500), st.floats(0, 5))
def test_sends_under_way_when_it_opens_make_no_pause_longer(under_way: int, last: float) -> None:
    breakers = new_breakers()
    for number in range(under_way):
        breakers.note("x", Send(DOWN, 0.0, 1.0 + last * number / under_way))
    opened_at_most = 1.0 + last
    assert breakers.due_probes(opened_at_most + COOLDOWN.first_seconds) == ["x"]


@given(st.data(), st.lists(st.sampled_from(["begin", "end", "probe"]), max_size=30))
def test_whatever_comes_late_an_open_one_is_probed_again(
    data: st.DataObject, steps: list[str]
) -> None:
    breakers, begun, now = new_breakers(), [0.0] * LIMIT, 1.0
    for _ in range(LIMIT):
        breakers.note("x", Send(DOWN, 0.0, now))
    for step in steps:
        now += COOLDOWN.first_seconds
        if step == "begin" and breakers.closed("x"):
            begun.append(now)
        elif step == "probe" and breakers.due_probes(now):
            begun.append(now)
            breakers.probe("x")
        elif step == "end" and begun:
            one = begun.pop(data.draw(st.integers(0, len(begun) - 1)))
            asked = data.draw(st.sampled_from([0.0, 0.0, COOLDOWN.first_seconds]))
            outcome = data.draw(MOSTLY_DOWN)
            breakers.note("x", Send(outcome, one, now, asked))
    for one in begun:
        breakers.note("x", Send(DOWN, one, now))
    assert breakers.due_probes(now + COOLDOWN.limit_seconds) == breakers.open_destinations()


@given(st.lists(st.tuples(OUTCOMES, st.booleans())))
def test_a_probe_of_what_works_again_meanwhile_changes_nothing(
    steps: list[tuple[Outcome, bool]],
) -> None:
    probed, plain = new_breakers(), new_breakers()
    for now, (outcome, late_probe) in enumerate(steps):
        for each in (probed, plain):
            each.note("x", Send(outcome, float(now), float(now)))
        if late_probe and probed.closed("x"):
            probed.probe("x")
        assert probed.open_destinations() == plain.open_destinations()
        assert probed.due_probes(now + 5.0) == plain.due_probes(now + 5.0)


@given(st.floats(0.001, 3600))
def test_a_destination_that_asks_for_time_gets_it(pause: float) -> None:
    breakers = new_breakers()
    breakers.note("x", Send(Refused("busy", pause), 100.0, 100.0, pause))
    assert not breakers.closed("x")
    assert breakers.due_probes(100.0 + pause * 0.9) == []
    assert breakers.due_probes(100.0 + pause) == ["x"]


@given(st.lists(OUTCOMES, max_size=10))
def test_time_asked_for_is_given_whatever_was_sent_before(late: list[Outcome]) -> None:
    breakers = new_breakers()
    breakers.note("x", Send(Refused("busy", 60.0), 0.0, 1.0, 60.0))
    for number, outcome in enumerate(late):
        breakers.note("x", Send(outcome, 0.0, 2.0 + number))
    assert breakers.due_probes(60.9) == []
    (told,) = breakers.standing(60.9)
    refused = [each.reason for each in late if isinstance(each, Refused | Unknown)]
    assert told.reason == ["busy", *refused][-1]
    assert breakers.due_probes(61.0 + COOLDOWN.limit_seconds) == ["x"]


@given(st.lists(OUTCOMES, min_size=1, max_size=10))
def test_what_we_put_off_ourselves_says_nothing_about_the_destination(
    outcomes: list[Outcome],
) -> None:
    breakers, plain = new_breakers(), new_breakers()
    for now, outcome in enumerate(outcomes):
        for each in (breakers, plain):
            each.note("x", Send(outcome, float(now), float(now)))
        breakers.probe("x")
        breakers.note("x", Send(Refused("not yet", 60.0, own_pace=True), now + 0.5, now + 0.5))
        assert breakers.standing(now + 0.5) == plain.standing(now + 0.5)
        assert breakers.due_probes(now + 60.0) == plain.due_probes(now + 60.0)


def test_what_had_nothing_to_send_is_told_no_more_and_gets_a_probe_only() -> None:
    breakers = new_breakers()
    for _ in range(LIMIT):
        breakers.note("x", Send(DOWN, 0.0, 0.0))
    breakers.nothing_waits("x", TOLD_SECONDS, 0.0)
    later = TOLD_SECONDS + 1.0
    assert [each.destination for each in breakers.standing(later)] == ["x"]
    breakers.nothing_waits("x", later, 0.0)
    assert breakers.standing(later) == []
    assert breakers.due_probes(later) == breakers.open_destinations() == ["x"]
    breakers.probe("x")
    assert [each.destination for each in breakers.standing(later)] == ["x"]
    breakers.note("x", Send(DOWN, later, later + 1.0))
    breakers.nothing_waits("x", later + TOLD_SECONDS, 0.0)
    assert [each.destination for each in breakers.standing(later + TOLD_SECONDS)] == ["x"]


def test_time_asked_for_is_told_of_until_it_is_over() -> None:
    breakers = new_breakers()
    breakers.note("x", Send(Refused("busy", 600.0), 0.0, 0.0, 600.0))
    breakers.nothing_waits("x", 599.0, 0.0)
    assert [each.destination for each in breakers.standing(599.0)] == ["x"]
    assert breakers.standing(601.0) == []


def test_what_is_remembered_is_bounded() -> None:
    breakers = new_breakers()
    for number in range(DESTINATIONS_LIMIT + 10):
        breakers.note(str(number), Send(Refused("busy", 5.0), 0.0, 0.0, 5.0))
    assert len(breakers.open_destinations()) == DESTINATIONS_LIMIT


@given(st.text(st.characters() | st.sampled_from("\x00\udce9"), max_size=700))
def test_why_it_is_left_alone_can_be_kept_whatever_the_far_end_has_said(reason: str) -> None:
    breakers = new_breakers()
    breakers.note("x", Send(Refused(reason), 0.0, 0.0, 5.0))
    (told,) = breakers.standing(0.0)
    assert "\x00" not in told.reason
    assert told.reason.encode().decode() == told.reason
