"""What the accountant has in hand while Postgres is away is not forgotten."""

from unittest.mock import Mock, create_autospec

import pytest

from services.accountant.comparing import Comparison
from services.backbone.clock import ManualClock
from services.backbone.errors import Transient
from services.backbone.kafka.consumer import Consumer, Incoming
from services.backbone.ledger.accounting import AccountBook

ASIDE = Incoming("alerts.rejected", 0, 0, b"refused", b"{}", 0)


def consumer(*batches: list[Incoming]) -> Mock:
    made: Mock = create_autospec(Consumer, instance=True)
    made.batch.side_effect = [*batches, []]
    return made


def test_what_was_set_aside_while_postgres_was_away_is_kept_when_it_is_back() -> None:
    book: Mock = create_autospec(AccountBook, instance=True)
    book.keep_aside.side_effect = [Transient("Postgres is away"), None]
    alerts, aside = consumer([]), consumer([ASIDE])
    comparison = Comparison(book, alerts, aside, ManualClock(), 5.0)
    with pytest.raises(Transient):
        comparison.step(0.0)
    aside.commit.assert_not_called()
    comparison.step(0.0)
    assert [call.args for call in book.keep_aside.call_args_list] == [(["refused"],)] * 2
    aside.idle.assert_called_once()
    aside.commit.assert_called_once_with([ASIDE])
