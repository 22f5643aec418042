"""After a doubt, the pages of a real Nagios tell what NRDP has handed on."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from services.backbone.clock import SystemClock
from services.contracts.states import State
from services.deliverer.channel import Doubt, Taken, Unclear
from services.deliverer.channels.nagios.command_file import command, put
from services.deliverer.channels.nagios.wording import Place, Result
from services.deliverer.channels.nrdp.settings import NrdpSettings
from services.deliverer.channels.nrdp.witness import NrdpWitness
from services.simulator.inbox.providers.nrdp import TOKEN
from tests.integration import nagios_pages
from tests.integration.deliverer.conftest import Start
from tests.integration.deliverer.inboxes import playing
from tests.integration.deliverer.ledgers import Ledger
from tests.integration.deliverer.waiting import until
from tests.integration.nagios import Nagios, complaint
from tests.unit.deliverer.builders import delivery

pytestmark = [pytest.mark.kafka, pytest.mark.postgres, pytest.mark.nagios]

WATCH = "aldebaran/over-purchase"


@pytest.fixture
def nagios(tmp_path: Path) -> Iterator[Nagios]:
    if wrong := complaint() or nagios_pages.complaint():
        pytest.skip(wrong)
    running = Nagios(tmp_path / "nagios")
    running.start()
    yield running
    running.kill()


def hand_on(nagios: Nagios, text: str) -> None:
    """Do what NRDP does with a result that it has taken."""
    at_seconds = SystemClock().now_ms() // 1000
    line = command(Result(Place.of(WATCH), 2, text, at_seconds))
    put(nagios.command_file, line, lambda: None)
    until(lambda: text[:40] in nagios.shown(WATCH).text, "shown")


@pytest.mark.promise("evidence", "nrdp")
def test_taken_and_the_answer_lost_nagios_ends_the_doubt(
    start: Start, ledger: Ledger, nagios: Nagios, tmp_path: Path
) -> None:
    one = delivery(1, "nrdp", WATCH)
    ledger.add(one)
    with playing(tmp_path / "inbox") as inbox, nagios_pages.shown(nagios) as url:
        inbox.dial("nrdp", accept_then_drop_share=1)
        start(
            "nrdp",
            nrdp_url=inbox.url + "/nrdp/",
            nrdp_token=TOKEN,
            nrdp_status_url=url,
            nrdp_look_up_after_seconds="[0.1, 0.5, 1, 2, 4, 8, 16]",
            in_doubt_deadline_seconds=60,
        )
        until(lambda: inbox.taken("nrdp")[one.delivery_id] == 1, "taken")
        results = inbox.get("/nrdp/results")
        assert isinstance(results, list)
        hand_on(nagios, results[0]["output"])
        until(lambda: set(ledger.states().values()) == {State.SENT}, "sent by evidence")
        assert inbox.taken("nrdp")[one.delivery_id] == 1


@pytest.mark.promise("evidence", "nrdp")
async def test_an_older_result_is_found_among_the_alerts(nagios: Nagios) -> None:
    first, never = delivery(1, "nrdp", WATCH), delivery(2, "nrdp", WATCH)
    now_ms = SystemClock().now_ms()
    hand_on(nagios, f"CRITICAL: one [delivery {first.delivery_id}]")
    hand_on(nagios, f"CRITICAL: two [delivery {'f' * 32}]")
    with nagios_pages.shown(nagios) as url:
        witness = NrdpWitness(NrdpSettings(), url, SystemClock())
        found = await witness.look_up(Doubt(first, 1, now_ms, now_ms + 1))
        assert isinstance(found, Taken)
        assert isinstance(await witness.look_up(Doubt(never, 1, now_ms, now_ms + 1)), Unclear)
        await witness.close()
