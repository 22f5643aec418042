"""A turn of accounting: what only tidies up keeps nothing from being accounted."""

from prometheus_client import REGISTRY

from services.accountant.accounts import KINDS
from services.accountant.settings import AccountantSettings
from services.accountant.turns import PRUNE_LIMIT
from services.backbone.errors import Transient
from tests.unit.accountant.empty_ledger import EmptyLedger


def test_recipients_that_are_being_removed_are_not_missed() -> None:
    """An old alert may outlast its deliveries by some turns."""
    ledger = EmptyLedger()
    settings = AccountantSettings(accountant_window_hours=24 * 365, ledger_retention_days=100)
    ledger.turns(settings).turn([])
    assert ledger.completeness.page.call_args.kwargs["since_seconds"] == 100 * 86_400


def test_what_cannot_be_removed_in_time_is_tried_by_halves_and_all_is_accounted() -> None:
    ledger = EmptyLedger()
    ledger.findings.open_counts.return_value = {KINDS[0]: 7}
    slow = Transient("Postgres: canceling statement due to statement timeout")
    ledger.pruning.prune.side_effect = [slow, slow, 3, 0, 0]
    turns = ledger.turns(AccountantSettings())
    for _ in range(5):
        turns.turn([])
    limits = [call.args[1] for call in ledger.pruning.prune.call_args_list]
    assert limits == [500, 250, 125, 250, PRUNE_LIMIT]
    assert ledger.findings.open_counts.call_count == 5
    assert REGISTRY.get_sample_value("aldebaran_accountant_findings", {"kind": KINDS[0]}) == 7
