"""Postgres goes and comes back while alerts flow; a lookout starts before its servers do."""

import pytest

from services.backbone.kafka.producer import Producer
from services.machine.supervision.readiness import HttpReadiness
from tests.integration.lookout.findings import findings, ledger_counts, wanted
from tests.integration.lookout.processes import Lookouts, Reader, eventually, page, write_alerts
from tests.postgres import OwnPostgres

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]


@pytest.fixture
def ledger_url(stopped_postgres: OwnPostgres) -> str:
    return stopped_postgres.url


def test_alerts_wait_for_postgres_and_none_is_lost(
    stopped_postgres: OwnPostgres, lookouts: Lookouts, producer: Producer, reader: Reader
) -> None:
    before, during = findings(200), findings(200)
    running = lookouts.start(ready=False)
    eventually(lambda: "not_there_yet" in lookouts.log(), "does not wait for Postgres")
    stopped_postgres.start()
    write_alerts(producer, before)
    reader.wait_for(wanted(before))
    assert isinstance(running.program.readiness, HttpReadiness)
    eventually(running.program.readiness.is_ready, "not ready with all servers there")

    stopped_postgres.stop()
    write_alerts(producer, during)
    readiness = running.program.readiness
    eventually(lambda: not readiness.is_ready(), "ready without Postgres")
    assert '"ok"' in page(running, "/healthz/live"), "a restart heals nothing"
    assert not wanted(during) & set(reader.keys()), "published what is not recorded"

    stopped_postgres.start()
    reader.wait_for(wanted(during))
    eventually(readiness.is_ready, "not ready again")
    alerts = [*before, *during]
    eventually(
        lambda: ledger_counts(stopped_postgres.url, alerts) == (400, 400, 0), "not all are recorded"
    )
    assert running.exit_code is None


def test_alerts_wait_for_a_postgres_that_only_reads(
    stopped_postgres: OwnPostgres, lookouts: Lookouts, producer: Producer, reader: Reader
) -> None:
    before, during = findings(200), findings(200)
    stopped_postgres.start()
    lookouts.start()
    write_alerts(producer, before)
    reader.wait_for(wanted(before))

    stopped_postgres.only_read()
    write_alerts(producer, during)
    eventually(lambda: "try_again" in lookouts.log(), "is not tried again")
    lookouts.start(ready=False)
    eventually(lambda: "not_there_yet" in lookouts.log(), "a second one does not wait")
    assert not wanted(during) & set(reader.keys()), "published what is not recorded"

    stopped_postgres.write_again()
    reader.wait_for(wanted(during))
    assert [each.exit_code for each in lookouts.running] == [None, None]
