"""A whole account: what it takes to compare is no standstill of the brokers."""

from unittest.mock import Mock, create_autospec

import pytest

from services.accountant.report import STANDSTILL_SECONDS, Account, all_counted, everything, table
from services.backbone.clock import ManualClock
from services.backbone.errors import Transient
from services.backbone.kafka.consumer import Consumer, Incoming
from services.backbone.ledger.accounting.asking import ROWS_LIMIT
from services.backbone.ledger.accounting.completeness import (
    TOTALS_LIMIT,
    Completeness,
    Place,
    Totals,
)
from services.backbone.ledger.accounting.findings import Finding

ALERT = Incoming("alerts", 0, 0, b"k", b"{}", 0)


def consumer(clock: ManualClock, silent_seconds: float) -> Mock:
    """Return one that gives two batches, with a silence between them."""
    left: list[list[Incoming]] = [[ALERT], [], [ALERT]]
    made: Mock = create_autospec(Consumer, instance=True)

    def batch(limit: int, timeout_seconds: float) -> list[Incoming]:
        given = left.pop(0)
        if not given:
            clock.move(silent_seconds)
        return given

    made.batch.side_effect = batch
    made.assigned.return_value = 1
    made.ends.return_value = {("alerts", 0): 2}
    made.has_passed.side_effect = lambda ends, from_start: not left
    return made


def test_the_time_that_a_batch_is_compared_for_is_no_standstill() -> None:
    clock, read = ManualClock(), 0
    for batch in everything(consumer(clock, 3.0), clock):
        read += len(batch)
        clock.move(STANDSTILL_SECONDS + 1)
    assert read == 2


def test_brokers_that_give_nothing_for_long_do_not_give_all() -> None:
    clock = ManualClock()
    with pytest.raises(Transient, match="nothing came for 60 s"):
        list(everything(consumer(clock, STANDSTILL_SECONDS + 1), clock))


def test_alerts_are_counted_some_at_a_time_and_what_comes_meanwhile_does_not_go_on_for_ever() -> (
    None
):
    ledger: Mock = create_autospec(Completeness, instance=True)
    whole = [Place(1, str(number)) for number in range(ROWS_LIMIT)]
    ledger.page.side_effect = [whole, whole[: TOTALS_LIMIT + 1], whole[:1]]
    ledger.totals.side_effect = lambda ids: Totals(alerts=len(ids))
    assert all_counted(ledger, 60.0) == Totals(alerts=ROWS_LIMIT + TOTALS_LIMIT + 1)
    assert max(len(call.args[0]) for call in ledger.totals.call_args_list) == TOTALS_LIMIT
    assert [call.args[0] for call in ledger.page.call_args_list] == [Place(), whole[-1]]


def test_what_a_provider_said_is_on_its_line() -> None:
    said = Finding("held", "d1", "email", "451 x\x1b[2J\nheld d2: forged")
    lines = table(Account(overdue=[said])).split("\n")
    assert lines[-1] == "held d1: 451 x\\x1b[2J\\nheld d2: forged"


def test_what_is_only_counted_is_overdue_too() -> None:
    known = [Finding("held", f"d{number}", "email", "why") for number in range(2)]
    lines = table(Account(overdue=known, unlisted=100)).split("\n")
    assert "overdue                          102" in lines
    assert lines[-1] == "and 52 more"
