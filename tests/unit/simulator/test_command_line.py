"""Dials as the user spells them."""

import math

import pytest

from services.simulator.command_line import parse
from services.simulator.dials import Dials, Target


def test_no_argument_means_the_stated_defaults() -> None:
    dials, overrides = parse([])
    assert dials == Dials()
    assert dials.rate == 1
    assert dials.shape.purchases_per_request == 4
    assert overrides == {}


def test_every_dial_reaches_its_place() -> None:
    line = (
        "--rate 50 --purchases-per-request 2 --over-share 0.5 --disorder 0.1 --duplicates 0.2 "
        "--malformed 0.3 --orders 7 --events 8 --seconds 9 --seed 3 --to kafka --batch 11 "
        "--run-id me --watch w --report-ids 5 --report out.json --url http://there --api-key k "
        "--http-port 1234"
    )
    dials, overrides = parse(line.split())
    assert (dials.rate, dials.orders, dials.events, dials.seconds) == (50, 7, 8, 9)
    assert (dials.shape.purchases_per_request, dials.shape.over_share) == (2, 0.5)
    assert (dials.shape.disorder, dials.shape.duplicates, dials.shape.malformed) == (0.1, 0.2, 0.3)
    assert (dials.to, dials.batch, dials.run_id, dials.watch) == (Target.KAFKA, 11, "me", "w")
    assert str(dials.report) == "out.json"
    assert overrides == {
        "simulator_gateway_url": "http://there",
        "simulator_api_key": "k",
        "http_port": "1234",
    }


@pytest.mark.parametrize("rate", ["max", "0"])
def test_the_largest_rate_has_two_spellings(rate: str) -> None:
    assert math.isinf(parse(["--rate", rate])[0].rate)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--rate", "-1"], "rate"),
        (["--over-share", "1.5"], "over-share"),
        (["--to", "mars"], "to:"),
        (["--purchases-per-request", "0"], "needs at least one purchase"),
        (["--run-id", "A B"], "run-id"),
        (["--report", "nowhere/run.json"], "there is no folder nowhere"),
        (["--report", "."], ". is a folder"),
    ],
)
def test_a_bad_dial_is_named(
    arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(arguments)
    assert ended.value.code == 2
    assert named in capsys.readouterr().err
