"""Commits that wait long for their disk: a channel with a rate sends all the same.

The disk is played: a commit that would wait for it waits 0.15 s, longer than a turn is fresh, with
all that it has locked. One that waits for no disk does not.
"""

import pytest

from services.contracts.states import State
from tests.integration.deliverer.conftest import Start
from tests.integration.deliverer.ledgers import Ledger
from tests.integration.deliverer.receivers import WebhookReceiver
from tests.integration.deliverer.waiting import until
from tests.unit.deliverer.builders import delivery

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]

_WAIT = """
CREATE FUNCTION wait_for_the_disk() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  own text := pg_current_xact_id()::text;
BEGIN
  IF current_setting('synchronous_commit') = 'on'
    AND current_setting('test.has_waited', true) IS DISTINCT FROM own
  THEN
    PERFORM set_config('test.has_waited', own, true), pg_sleep(0.15);
  END IF;
  RETURN NULL;
END $$"""
_AT_COMMIT = """
CREATE CONSTRAINT TRIGGER waits_for_the_disk AFTER INSERT OR UPDATE ON turns
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait_for_the_disk()"""


def test_what_comes_one_by_one_is_sent_at_its_first_try(
    start: Start, ledger: Ledger, receiver: WebhookReceiver
) -> None:
    ledger.execute(_WAIT)
    ledger.execute(_AT_COMMIT)
    start("webhook", rate_per_second=20)
    for number in range(5):
        ledger.add(delivery(number, recipient=receiver.url))
        until(lambda: set(ledger.states().values()) == {State.SENT}, "sent")
    assert set(receiver.came().values()) == {1}
    # Not all of them: on a busy machine a statement may take as long as that disk.
    assert min(row["attempt"] for row in ledger.rows()) == 1
