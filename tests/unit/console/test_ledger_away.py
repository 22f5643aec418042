"""A console without its ledger serves pages; it is not ready only before it has ever had one."""

from typing import NoReturn

import pytest

from services.backbone.clock import ManualClock
from services.backbone.errors import Transient
from services.backbone.kafka.lag import Told
from services.backbone.ledger.answers.overview import Overview
from services.backbone.ledger.rows import AlertRow
from services.backbone.service import Life
from services.console.lagging import LagWatch
from services.console.live import Board
from services.console.program import watch
from services.console.settings import ConsoleSettings
from services.console.watching import LedgerWatch

AWAY = {"ledger": "the ledger does not answer"}


def looked_once(*, reached: bool) -> Life:
    """Return the life of a console after one look at a ledger that is away, or has just gone."""
    life = Life(ManualClock())

    def fall_silent() -> NoReturn:
        life.stop.set()
        raise Transient("Postgres: connection refused")

    def stand(_: int) -> tuple[Overview, list[AlertRow]]:
        fall_silent()

    ledger = LedgerWatch((lambda: None) if reached else fall_silent, stand)
    lagging = LagWatch(lambda: Told(()), life)
    watch(ConsoleSettings(), ledger, Board(), lagging, life)
    return life


@pytest.mark.parametrize(("reached", "failures"), [(True, {}), (False, AWAY)])
def test_a_rollout_stops_where_settings_lead_to_no_ledger_and_an_outage_hides_no_page(
    reached: bool, failures: dict[str, str]
) -> None:
    health = looked_once(reached=reached).health
    assert health.ready() == failures
    assert health.notes() == AWAY
