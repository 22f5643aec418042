"""Tests that people send: to the named recipients only, marked, and nothing holds them back."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.contracts.records import Severity
from services.contracts.watches import ACCOUNTANT, TEST_SEND, WatchDeclaration
from services.lookout.decisions.fanout import Unusable, fan_out
from services.lookout.matching import Match
from services.lookout.routing import Inhibition, Instruction, Route, Routes, Target
from services.lookout.standing import Silence, Standing, found_at
from services.lookout.trials import Trial, delivery_ids, is_exempt, trial_id
from tests.unit.lookout.samples import sample

NOW_MS = 1_795_253_400_000
CHANNELS = ("bus", "email")
DESK = Target("email", "desk@example.com")
EVERYTHING = Match(watch=("*",))
ROUTES = Routes(
    (Route("all", EVERYTHING, (Instruction(Target("bus", "everybody"), "all"),)),),
    (Instruction(Target("bus", "default"), "default"),),
    inhibitions=(Inhibition("mute", EVERYTHING, EVERYTHING, (), 60),),
)
targets = st.lists(
    st.sampled_from((DESK, Target("bus", "topic"), Target("email", "a@b"))), min_size=1, max_size=6
)


def silence() -> Standing:
    at = found_at(sample(detected_at_ms=NOW_MS))
    hour = timedelta(hours=1)
    return Standing((Silence("s", EVERYTHING, at - hour, at + hour, "ann", "away"),))


@given(targets, st.sampled_from(Severity), st.booleans())
def test_only_the_named_are_told_and_only_once(
    named: list[Target], severity: Severity, heeds: bool
) -> None:
    trial = Trial(tuple(named), "ann", severity, "hello", heeds)
    alert = trial.alert("k", NOW_MS)
    made = fan_out(alert, ROUTES, silence(), NOW_MS, channels=CHANNELS)
    assert not isinstance(made, Unusable)
    once = list(dict.fromkeys(named))
    assert [each.delivery.delivery_id for each in made.deliveries] == delivery_ids(
        trial_id("k"), once
    )
    assert all(each.delivery.subject.startswith("[TEST] ") for each in made.deliveries)
    assert all((each.suppression is not None) == heeds for each in made.deliveries)
    assert (made.routed_by, made.inhibits, made.steps) == (TEST_SEND, (), ())
    assert is_exempt(alert) != heeds


def test_the_same_key_is_the_same_test_whatever_its_text() -> None:
    first = Trial((DESK,), "ann", text="one").alert("k", 1)
    assert first.alert_id == Trial((DESK,), "bob", text="two").alert("k", 2).alert_id
    assert first.alert_id != Trial((DESK,), "ann", text="one").alert("l", 1).alert_id


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"targets": []},
        {"targets": "x"},
        {"targets": [{"channel": "email"}]},
        {"targets": [{"channel": "email", "recipient": "nobody"}]},
        {"targets": [{"channel": "pigeon", "recipient": "x"}]},
        {"targets": [{"channel": "bus", "recipient": "alerts"}]},
    ],
)
def test_what_others_write_under_the_reserved_name_is_kept_aside(values: dict[str, object]) -> None:
    made = fan_out(sample(watch=TEST_SEND, values=values), ROUTES, Standing(), NOW_MS)
    assert isinstance(made, Unusable)
    assert made.reason == "malformed"


@pytest.mark.parametrize("name", [TEST_SEND, ACCOUNTANT])
def test_no_watch_may_have_a_reserved_name(name: str) -> None:
    with pytest.raises(ValueError, match=f"the name {name} is reserved for .*: take another"):
        WatchDeclaration.model_validate(
            {
                "watch": name,
                "version": 1,
                "description": "d",
                "streams": ["s"],
                "sql": "SELECT 1",
                "key": ["k"],
                "severity": "info",
                "summary": "s",
                "rule": "r",
            }
        )
