"""What is missing or overdue is raised once, on another channel, and ends when it is right."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Event
from typing import Any, Final

import pytest
from confluent_kafka.admin import AclOperation  # type: ignore[attr-defined] # public, undeclared
from psycopg.types.json import Json

from services.accountant.report import Account, table
from services.backbone.kafka.producer import Outgoing
from services.contracts import topics
from services.contracts.ids import delivery_id
from services.contracts.states import State
from tests.broker import forbid
from tests.integration.accountant.conftest import World
from tests.integration.deliverer.waiting import until
from tests.integration.lookout.findings import findings

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]

OPEN: Final = "SELECT * FROM findings WHERE ended_at IS NULL"
OWN: Final = (
    "SELECT d.* FROM deliveries d JOIN alerts a USING (alert_id) WHERE watch = 'accountant'"
)


def raised(world: World, kind: str, subject: str) -> list[tuple[str, str]]:
    """Return channel and recipient of each message about a finding."""
    found = world.ledger.rows("SELECT * FROM findings WHERE raised_by IS NOT NULL")
    messages = {row["alert_id"]: row for row in world.ledger.rows(OWN)}
    own = [
        messages[row["raised_by"]]
        for row in found
        if (row["kind"], row["subject"]) == (kind, subject)
    ]
    return [(message["channel"], message["recipient"]) for message in own]


def some_turns(world: World) -> None:
    """Wait until it has accounted three more times."""
    for _ in range(3):
        seen = world.accountants.turns()
        until(partial(_after, world, seen), "one more accounting")


def _after(world: World, seen: float) -> bool:
    return world.accountants.turns() > seen


def nothing_open(world: World) -> bool:
    return not world.ledger.rows(OPEN)


def put_back(world: World, row: dict[str, Any]) -> None:
    world.ledger.execute(
        "INSERT INTO deliveries (delivery_id, alert_id, channel, recipient, record, state)"
        " VALUES (%s, %s, %s, %s, %s, 'SENT')",
        *(row[name] for name in ("delivery_id", "alert_id", "channel", "recipient")),
        Json(row["record"]),
    )


def test_a_day_of_the_accountant(world: World) -> None:
    (alert,) = findings(1)
    delivery = delivery_id(alert.alert_id, "bus", "notifications")
    lines = world.folder / "lines"
    world.deliverer("log", log_channel_file=lines)

    # The lookout is not running: the alert is missing, and somebody is told without the lookout.
    world.publish(alert)
    world.accountants.start()
    until(lambda: raised(world, "missing_alert", alert.alert_id), "missing alert raised")
    assert raised(world, "missing_alert", alert.alert_id) == [("bus", "notifications")]

    # It runs again: the finding ends. The channel's deliverer does not run: told on another one.
    world.lookouts.start()
    until(lambda: delivery in world.ledger.states(), "the lookout has taken it")
    until(lambda: raised(world, "overdue_channel", "bus"), "silent channel raised")
    assert raised(world, "overdue_channel", "bus") == [("log", "desk")]
    until(lambda: lines.exists() and "do not send what is due" in lines.read_text(), "a line")

    # All runs: nothing is wrong any more, and the account says so.
    world.deliverer("bus")
    until(lambda: nothing_open(world), "all findings ended")
    account = world.accountants.once()
    assert (account.returncode, account.stderr) == (0, "")
    assert "alerts missing" in account.stdout
    assert world.beats.count > 0

    # A row is removed by hand: raised once, not on its own channel, nor again after a kill.
    row = world.ledger.by_id()[delivery]
    world.ledger.execute("DELETE FROM deliveries WHERE delivery_id = %s", delivery)
    until(lambda: raised(world, "missing_recipient", delivery), "missing recipient raised")
    world.accountants.kill()
    world.accountants.start()
    some_turns(world)
    assert raised(world, "missing_recipient", delivery) == [("log", "desk")]
    assert len(world.ledger.rows(OWN)) == 3
    account = world.accountants.once()
    assert account.returncode == 1
    assert f"missing_recipient {delivery}" in account.stdout
    put_back(world, row)
    until(lambda: nothing_open(world), "nothing is missing")


def test_an_account_ends_while_alerts_flow(world: World) -> None:
    first, *others = findings(1000)
    ended = Event()

    def flow() -> None:
        for each in others:
            world.publish(each)
            if ended.wait(0.3):
                return

    world.publish(first)
    with ThreadPoolExecutor(1) as flowing:
        flowing.submit(flow)
        try:
            account = world.accountants.once()
        finally:
            ended.set()
    assert (account.returncode, account.stderr) == (1, "")
    assert f"missing_alert {first.alert_id}" in account.stdout


def test_what_was_set_aside_is_not_missing_and_what_is_held_is_raised(world: World) -> None:
    taken, refused = findings(2)
    world.lookouts.start()
    world.producer.write([Outgoing(topics.ALERTS, "x", b"{")])  # the lookout sets it aside
    world.publish(taken)
    delivery = delivery_id(taken.alert_id, "bus", "notifications")
    until(lambda: delivery in world.ledger.states(), "the lookout has taken it")
    world.lookouts.kill(world.lookouts.running[0])
    aside = Outgoing(topics.rejected(topics.ALERTS), refused.alert_id, b"{}")
    world.producer.write([aside])
    world.publish(refused)
    world.ledger.execute("UPDATE deliveries SET state = 'HELD'")
    world.accountants.start()
    until(lambda: raised(world, "held", delivery), "held raised")
    assert raised(world, "held", delivery) == [("log", "desk")]
    until(lambda: world.accountants.compared() == 3, "all records compared")
    some_turns(world)
    kinds = {row["kind"] for row in world.ledger.rows(OPEN)}
    assert "missing_alert" not in kinds
    world.ledger.execute("UPDATE deliveries SET state = %s", State.SENT)
    until(lambda: nothing_open(world), "all findings ended")


def test_what_the_first_refuses_for_good_is_told_to_the_next(world: World) -> None:
    (taken,) = findings(1)
    world.lookouts.start()
    world.publish(taken)
    delivery = delivery_id(taken.alert_id, "bus", "notifications")
    until(lambda: delivery in world.ledger.states(), "the lookout has taken it")
    world.ledger.execute("UPDATE deliveries SET state = 'HELD'")
    world.accountants.start()
    until(lambda: raised(world, "held", delivery), "held raised")
    refuse = "UPDATE deliveries SET state = 'FAILED', reason = 'no room' WHERE channel = 'log'"
    world.ledger.execute(refuse)
    until(lambda: len(world.ledger.rows(OWN)) == 2, "the next is told")
    told = {row["channel"]: row for row in world.ledger.rows(OWN)}
    assert {told["bus"]["recipient"], told["log"]["recipient"]} == {"notifications", "desk"}
    assert "Fallback: log to desk failed: no room" in told["bus"]["record"]["text"]
    assert delivery in told["bus"]["record"]["text"]


def test_the_account_is_alone_on_standard_output(world: World) -> None:
    forbid(world.bootstrap, topics.ALERTS, AclOperation.DESCRIBE_CONFIGS)
    account = world.accountants.once()
    assert account.returncode == 0
    assert account.stdout == table(Account()) + "\n"
    assert "retention_not_told" in account.stderr
