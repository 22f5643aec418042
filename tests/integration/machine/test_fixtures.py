"""The tests' own servers answer; they are started by the code that `make run` uses."""

import psycopg
import pytest

from services.machine.supervision.readiness import KafkaReadiness


@pytest.mark.kafka
def test_the_broker_serves(kafka_bootstrap: str) -> None:
    host, _, port = kafka_bootstrap.partition(":")
    assert KafkaReadiness(host, int(port)).is_ready()


@pytest.mark.postgres
def test_each_test_gets_an_empty_database_of_its_own(
    empty_database: str, postgres_url: str
) -> None:
    assert empty_database != postgres_url
    with psycopg.connect(empty_database) as connection:
        row = connection.execute("SELECT count(*) FROM pg_stat_user_tables").fetchone()
    assert row == (0,)
