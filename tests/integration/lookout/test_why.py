"""Any alert id is answered: what was decided, when, why, and what came of it."""

import io

import orjson
import pytest

from services.backbone.errors import Refused
from services.backbone.ledger.accounting.completeness import Completeness
from services.backbone.ledger.answers import why as answers
from services.backbone.ledger.answers.why import Answer, Answers
from services.backbone.ledger.database import transaction
from services.backbone.ledger.deliveries.pauses import pause_on, resume_on
from services.lookout.__main__ import main
from services.lookout.commands.asking import tell
from services.lookout.routing import decide
from tests.integration.lookout.keeping import ROUTES, START, Desk, World

pytestmark = pytest.mark.postgres

HOT, MILD = 0, 2
"""Numbers of a critical and an info alert about the same zone; both go to sms a and email b."""


@pytest.fixture
def world(desk: Desk) -> World:
    return World(desk)


def why(world: World, number: int) -> Answer:
    found = Answers(world.pool).why(world.alert(number).alert_id)
    assert found is not None
    return found


def keep_and_deliver(world: World) -> None:
    world.programs[0].round()
    world.deliver()


def sentences(found: Answer) -> dict[str, str]:
    return {f"{each.channel} {each.recipient}": each.sentence for each in found.recipients}


def test_a_silenced_alert_says_by_whom_until_when_and_then_that_it_was_sent(world: World) -> None:
    world.silence(2, "over-heat")
    world.programs[0].round()
    world.arrive(world.programs[0], [HOT])
    found = why(world, HOT)
    until = "2026-11-21 23:00:00Z"
    assert sentences(found)["sms a"] == f"not sent: silenced by ann: works, until {until}"
    assert (found.routed_by, found.routes_version) == ("hot", "1")
    assert [(route.name, route.fits) for route in found.considered] == [("hot", True)]
    world.pass_time(2 * 3600)
    keep_and_deliver(world)
    told = why(world, HOT).recipients[0]
    assert told.sentence.startswith("sent once at ")
    assert [each.what for each in told.happened] == [
        "judged: wait", "release: PENDING", "claimed", "try 1: SENT",
    ]  # fmt: skip
    assert told.happened[1].detail == "released: silence:s0 is over"


def test_a_digest_is_named_in_each_alert_that_it_tells(world: World) -> None:
    world.arrive(world.programs[0], [HOT, HOT + 4])
    world.pass_time(61)
    keep_and_deliver(world)
    words = {sentences(why(world, number))["email b"] for number in (HOT, HOT + 4)}
    assert len(words) == 2
    assert any(each.startswith("part of a digest: sent once at ") for each in words)
    assert any(each.endswith("as a digest with others") for each in words)


def test_what_was_acknowledged_while_it_waited_says_so(world: World) -> None:
    world.arrive(world.programs[0], [HOT, MILD])
    assert "inhibited by alert" in sentences(why(world, MILD))["sms a"]
    world.acknowledge(MILD)
    world.pass_time(700)
    keep_and_deliver(world)
    found = why(world, MILD)
    assert "acknowledged before it was sent" in sentences(found)["sms a"]
    assert found.acknowledged_at_ms is not None
    assert [each.what for each in found.happened] == ["acknowledge: acknowledged"]


def test_people_and_programs_can_read_it(world: World) -> None:
    world.arrive(world.programs[0], [HOT])
    keep_and_deliver(world)
    alert = world.alert(HOT)
    found = Answers(world.pool).why(alert.alert_id[:8].upper())
    assert found is not None
    assert found == why(world, HOT)
    out = io.StringIO()
    assert tell(found, "", out, as_json=False) == 0
    text = out.getvalue()
    assert text.startswith(f"[CRITICAL] over-heat: finding {HOT}\nalert {alert.alert_id}\n")
    assert "  yes hot: all its conditions hold\n" in text
    assert "sms to a: sent once at 2026-11-21 21:00:00Z\n" in text
    out = io.StringIO()
    tell(found, "", out, as_json=True)
    told = orjson.loads(out.getvalue())
    planned = decide(ROUTES, alert, START).targets
    assert {each["recipient"] for each in told["recipients"]} == {
        each.recipient for each in planned
    }


def test_an_answer_that_is_cut_says_of_what(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.arrive(world.programs[0], [HOT])
    keep_and_deliver(world)
    found, out = why(world, HOT), io.StringIO()
    assert found.cut == ()
    monkeypatch.setattr(answers, "ROWS_LIMIT", 1)
    short = why(world, HOT)
    assert short.cut == ("recipients", "happened")
    assert len(short.recipients) == 1
    assert len(short.recipients[0].happened) <= 2
    tell(short, "", out, as_json=False)
    assert out.getvalue().endswith("\nonly the first are here of: recipients, happened\n")


def test_an_unknown_id_is_told_what_was_looked_at(world: World) -> None:
    assert Answers(world.pool).why("ab" * 16) is None
    out = io.StringIO()
    assert tell(None, Answers(world.pool).absent("ab" * 16), out, as_json=True) == 1
    assert out.getvalue().startswith(f"the ledger has no alert {'ab' * 16} (looked at: ")
    assert "alerts.rejected" in out.getvalue()
    for wrong in ("", "abc", "g" * 32, "a" * 33, "%" * 32):
        with pytest.raises(Refused, match="no alert's id"):
            Answers(world.pool).why(wrong)


def test_a_channel_that_a_person_has_stopped_is_named_with_who_and_why(world: World) -> None:
    world.arrive(world.programs[0], [HOT])
    with transaction(world.pool) as connection:
        assert pause_on(connection, "sms", "ann", "the carrier repeats")
    told = sentences(why(world, HOT))
    assert told["sms a"].endswith(
        "; ann has stopped channel sms since 2026-11-21 21:00:00Z: the carrier repeats"
    )
    assert "stopped" not in told["email b"]
    with transaction(world.pool) as connection:
        assert resume_on(connection, "sms")
    assert "stopped" not in sentences(why(world, HOT))["sms a"]


def test_a_digest_that_waits_for_its_stopped_channel_says_so_of_each_alert(world: World) -> None:
    world.arrive(world.programs[0], [HOT, HOT + 4])
    world.pass_time(61)
    world.programs[0].round()
    with transaction(world.pool) as connection:
        pause_on(connection, "email", "ann", "moved")
    words = [sentences(why(world, number))["email b"] for number in (HOT, HOT + 4)]
    assert all("ann has stopped channel email" in each for each in words)
    with transaction(world.pool) as connection:
        resume_on(connection, "email")


def test_an_alert_that_was_set_aside_is_said_to_be(
    world: World,
    ledger_url: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("ALDEBARAN_POSTGRES_URL", ledger_url)
    aside = "cd" * 16
    Completeness(world.pool).keep_aside([aside, "alerts/0/12"])
    capsys.readouterr()
    assert main(["why", aside[:8]]) == 1
    told = capsys.readouterr().out
    assert told.startswith(f"alert {aside} was set aside, as was noted at 20")
    assert "topic alerts.rejected has it, with the reason" in told
    assert "never found" not in told


def test_the_command_asks_the_ledger(
    world: World,
    ledger_url: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("ALDEBARAN_POSTGRES_URL", ledger_url)
    world.arrive(world.programs[0], [HOT])
    capsys.readouterr()
    assert main(["why", world.alert(HOT).alert_id]) == 0
    assert "email to b: not sent: grouped by" in capsys.readouterr().out
    assert main(["why", "no-id"]) == 1
    assert "is no alert's id" in capsys.readouterr().err
