"""What only a deliverer knows is told to the ledger: its names, and whom it leaves alone."""

import json
from pathlib import Path

import pytest

from services.backbone.ledger.answers.why import Answers
from services.backbone.ledger.database import open_pool
from services.backbone.settings import LedgerSettings
from services.contracts.states import State
from services.lookout.__main__ import main
from tests.integration.deliverer.conftest import Start
from tests.integration.deliverer.ledgers import Ledger
from tests.integration.deliverer.receivers import Answer, WebhookReceiver
from tests.integration.deliverer.waiting import until
from tests.unit.deliverer.builders import delivery

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]

BUSY = Answer(status=503, headers=(("Retry-After", "600"),), taken=False)
ROUTES = """\
version: 1
routes: []
default:
  send: [{channel: webhook, to: [desk, dsk]}]
"""


def test_an_open_breaker_and_unknown_names_are_told_of(
    start: Start,
    ledger: Ledger,
    receiver: WebhookReceiver,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    receiver.script = lambda number, key: BUSY
    tried, waiting = (delivery(number, recipient=receiver.url) for number in (1, 2))
    ledger.add(tried)
    start("webhook", webhook_targets=json.dumps({"desk": {"url": receiver.url}}))
    until(lambda: ledger.rows("SELECT FROM open_breakers"), "the breaker is noted")
    until(lambda: ledger.row(tried)["state"] == State.RETRY_WAIT, "its try is recorded")
    ledger.add(waiting)
    with open_pool(LedgerSettings.model_validate({"postgres_url": ledger.url})) as pool:
        answers = [Answers(pool).why(each.alert.alert_id) for each in (tried, waiting)]
    said = [each.recipients[0].sentence for each in answers if each is not None]
    assert len(said) == 2
    for sentence in said:
        assert "; webhook leaves it alone since " in sentence
        assert ", next probe at " in sentence
        assert sentence.endswith(": answered HTTP 503")
    assert ledger.row(waiting)["state"] == State.PENDING

    file = tmp_path / "routes.yaml"
    file.write_text(ROUTES)
    monkeypatch.setenv("ALDEBARAN_POSTGRES_URL", ledger.url)
    assert main(["check", str(file), "--deployed", "--strict"]) == 1
    assert capsys.readouterr().out == (
        "routes.yaml:4: warning: the default tells 'dsk' by webhook, a name that its deliverer "
        "does not know: add it to webhook_targets, did you mean 'desk'?\n"
    )
    assert main(["check", str(file), "--strict"]) == 0
