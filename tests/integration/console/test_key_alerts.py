"""The alerts about one key among those of keys that begin like it."""

import pytest

from services.backbone.ledger.answers.reading import LedgerReader
from services.console.tracing.alerts import ALERTS_LIMIT, KeyAlerts
from tests.integration.console.ledger_rows import add_alert

pytestmark = pytest.mark.postgres

KEY = "r-1"
LONG = f"{KEY}-{'0' * 300}"
WIDE = "\U00020000" * 512
"""As long as a traced key may be, and more than Postgres takes as one word."""


def test_what_comes_between_two_looks_is_found_behind_others(
    reader: LedgerReader, ledger_url: str
) -> None:
    alerts = KeyAlerts(KEY, {})
    add_alert(ledger_url, f"{KEY}0", accepted=0)
    alerts.search(reader)
    own = add_alert(ledger_url, KEY, accepted=1)
    for number in range(1, 2 * ALERTS_LIMIT + 5):
        add_alert(ledger_url, f"{KEY}{number}", accepted=1 + number)
    alerts.search(reader)
    assert set(alerts.at_ms) == {own}


@pytest.mark.parametrize("key", [LONG, WIDE])
def test_a_long_key_is_looked_for_by_its_beginning(
    reader: LedgerReader, ledger_url: str, key: str
) -> None:
    alerts = KeyAlerts(key, {})
    own = add_alert(ledger_url, key, accepted=0)
    add_alert(ledger_url, f"{key[:-1]}x", accepted=1)
    alerts.search(reader)
    assert set(alerts.at_ms) == ({own} if key == LONG else set())
