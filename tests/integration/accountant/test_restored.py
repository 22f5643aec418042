"""What the accountant tells from a new ledger, or a restored one, has no other message's id."""

from collections.abc import Sequence
from typing import Final

import pytest

from services.accountant.accounts import OVERDUE_CHANNEL, Target, notices
from services.backbone.ledger.accounting.findings import Finding, Findings, Notice, Unraised
from services.backbone.ledger.database import open_pool
from services.backbone.settings import LedgerSettings
from tests.postgres import database_like

pytestmark = pytest.mark.postgres

DESK: Final = (Target("log", "desk"),)


def raise_in(url: str, *new: Finding) -> list[Notice]:
    """Keep findings, and raise all that were not."""
    with open_pool(LedgerSettings.model_validate({"postgres_url": url})) as pool:
        findings = Findings(pool)
        findings.keep(new, ())
        return findings.raise_new(told, settle_seconds=0, every_seconds=0)


def told(found: Sequence[Unraised]) -> list[Notice]:
    return notices(found, DESK, set(), 1_800_000_000_000)


def silent(channel: str) -> Finding:
    return Finding(OVERDUE_CHANNEL, channel, channel, "7 due, the longest for 20 min")


def test_another_finding_of_the_same_number_is_another_message(
    ledger_url: str, empty_ledger: str, postgres_url: str
) -> None:
    with database_like(empty_ledger, postgres_url) as new_url:
        (before,) = raise_in(ledger_url, silent("sms"))
        (after,) = raise_in(new_url, silent("email"))
    assert before.numbers == after.numbers
    assert before.delivery.alert.alert_id != after.delivery.alert.alert_id
    assert before.delivery.delivery_id != after.delivery.delivery_id


def test_what_is_told_again_from_a_backup_has_the_same_id(
    ledger_url: str, postgres_url: str
) -> None:
    with open_pool(LedgerSettings.model_validate({"postgres_url": ledger_url})) as pool:
        Findings(pool).keep([silent("sms")], ())
    with database_like(ledger_url.rpartition("/")[2], postgres_url) as backup_url:
        (before,) = raise_in(ledger_url)
        (after,) = raise_in(backup_url)
    assert raise_in(ledger_url) == []
    assert before.delivery.delivery_id == after.delivery.delivery_id
