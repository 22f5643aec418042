"""The lookout's rules by real programs: what is held back, what is sent, counted at the far end."""

from collections.abc import Iterator
from datetime import datetime, timedelta

import psycopg
import pytest

from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.producer import Producer, ProducerSettings
from services.contracts.records import Severity
from services.contracts.topics import core_topics
from tests.integration.deliverer.receivers import WebhookReceiver
from tests.integration.lookout.conftest import CHANNELS
from tests.integration.lookout.later_rows import rows
from tests.integration.lookout.processes import Lookouts, eventually
from tests.integration.lookout.rules import Rules, running

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]


@pytest.fixture(scope="module")
def rules(
    kafka_bootstrap: str, postgres_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Rules]:
    """All tests share the programs; each has a watch and times of its own."""
    ledger_url = f"{postgres_url.rpartition('/')[0]}/rules"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE rules")
    settings = ProducerSettings(kafka_bootstrap_servers=kafka_bootstrap)
    TopicAdmin(settings, "test").declare(core_topics(CHANNELS))
    producer = Producer(settings, "test")
    lookouts = Lookouts(kafka_bootstrap, ledger_url, tmp_path_factory.mktemp("rules"))
    with WebhookReceiver().listening() as receiver, running(lookouts, producer, receiver) as rules:
        yield rules
    lookouts.close()
    producer.close()


def test_quiet_hours_hold_back_all_but_critical_until_they_end(rules: Rules) -> None:
    quiet, urgent = rules.alert("rules-night"), rules.alert("rules-night", Severity.CRITICAL)
    rules.sent(urgent)
    rules.held(quiet, "quiet")
    rules.end("night")
    rules.sent(quiet)
    rules.sent(rules.alert("rules-night"))


def test_a_stronger_alert_inhibits_its_like_until_it_is_acknowledged(rules: Rules) -> None:
    worst = rules.alert("rules-oven", Severity.CRITICAL)
    rules.sent(worst)
    muted, elsewhere = rules.alert("rules-oven"), rules.alert("rules-oven", hall="south")
    rules.sent(elsewhere)
    rules.held(muted, "inhibition")
    rules.ask("POST", f"/alerts/{worst.alert_id}/acknowledge", {"note": "seen"})
    rules.sent(muted)


def test_a_group_that_is_full_is_one_message(rules: Rules) -> None:
    (first, second) = rules.alerts("rules-many", 2)
    rules.held(first, "group")
    rules.held(second, "group")
    third = rules.alert("rules-many")
    members = [first, second, third]
    eventually(
        lambda: sorted(map(rules.stands, members)) == ["CLOSED", "CLOSED", "SENT"], "no digest"
    )
    assert sorted(map(rules.came, members)) == [0, 0, 1]
    (carrier,) = [each for each in members if rules.came(each)]
    assert all(each.alert_id in rules.words(carrier) for each in members)


def test_a_maintenance_window_of_the_file_ends_with_the_file(rules: Rules) -> None:
    held = rules.alert("rules-works", Severity.CRITICAL)
    rules.held(held, "window")
    rules.end("works")
    rules.sent(held)


def test_what_a_silence_held_back_is_judged_anew_and_sent_at_its_end(rules: Rules) -> None:
    """The first silence is ended by a person, the second by its time."""
    body = {"match": {"watch": "rules-spoken"}, "reason": "the hall is rebuilt"}
    spoken = rules.ask("POST", "/silences", body | {"lasts": "1h"})
    held = rules.first_held("rules-spoken")
    rules.held(held, "silence")
    short = rules.ask("POST", "/silences", body | {"lasts": "2s"})
    rules.ask("DELETE", f"/silences/{spoken['silence_id']}")
    rules.sent(held)
    question = """
      SELECT min(claimed_at) FROM attempts JOIN deliveries USING (delivery_id)
      WHERE alert_id = %s"""
    ((sent_at,),) = rows(rules.ledger_url, question, held.alert_id)
    assert sent_at >= datetime.fromisoformat(short["ends_at"])
    rules.sent(rules.alert("rules-spoken"))


def test_a_recurring_silence_holds_back_until_its_times_end(rules: Rules) -> None:
    body = {
        "match": {"watch": "rules-weekly", "during": "weekly"},
        "lasts": "30d",
        "reason": "restarts",
    }
    made = rules.ask("POST", "/silences", body)
    held = rules.first_held("rules-weekly")
    until = rules.held(held, "silence")
    assert until < datetime.fromisoformat(made["ends_at"]) - timedelta(days=29)
    rules.end("weekly")
    rules.sent(held)
    rules.sent(rules.alert("rules-weekly"))
