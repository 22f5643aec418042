"""A turn of accounting: what only tidies up keeps nothing from being accounted."""

from unittest.mock import Mock, create_autospec

from prometheus_client import REGISTRY

from services.accountant.accounts import KINDS
from services.accountant.settings import AccountantSettings
from services.accountant.turns import PRUNE_LIMIT, Turns
from services.backbone.clock import ManualClock
from services.backbone.errors import Transient
from services.backbone.ledger.accounting import AccountBook


def empty_book() -> Mock:
    """Return a ledger in which nothing is wrong."""
    book: Mock = create_autospec(AccountBook, instance=True)
    for asked in ("backlogs", "open_findings", "new_rows", "settled", "page", "raise_new"):
        getattr(book, asked).return_value = []
    for asked in ("missing", "still_absent"):
        getattr(book, asked).return_value = set()
    book.absences.return_value = []
    book.open_counts.return_value = {KINDS[0]: 7}
    book.prune.return_value = 0
    return book


def test_recipients_that_are_being_removed_are_not_missed() -> None:
    """An old alert may outlast its deliveries by some turns."""
    book = empty_book()
    settings = AccountantSettings(accountant_window_hours=24 * 365, ledger_retention_days=100)
    Turns(book, settings, ManualClock()).turn([])
    assert book.page.call_args.kwargs["since_seconds"] == 100 * 86_400


def test_what_cannot_be_removed_in_time_is_tried_by_halves_and_all_is_accounted() -> None:
    book = empty_book()
    slow = Transient("Postgres: canceling statement due to statement timeout")
    book.prune.side_effect = [slow, slow, 3, 0, 0]
    turns = Turns(book, AccountantSettings(), ManualClock())
    for _ in range(5):
        turns.turn([])
    limits = [call.args[1] for call in book.prune.call_args_list]
    assert limits == [500, 250, 125, 250, PRUNE_LIMIT]
    assert book.open_counts.call_count == 5
    assert REGISTRY.get_sample_value("aldebaran_accountant_findings", {"kind": KINDS[0]}) == 7
