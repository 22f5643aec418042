"""Every refusal at start, against a real broker: each says what to do."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from auditor.settings import AuditorSettings
from services.backbone.errors import Refused, Transient
from services.machine.ports import free_ports
from tests.integration.auditor.inside import Inside, rewrite, settings_of
from tests.integration.auditor.running import Place

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

# Every other refusal is tried without brokers: tests/unit/auditor/test_trial.py
NEVER_RUN = [
    ("SELECT <columns>, :nothing AS n, <rest> FROM trades GROUP BY order_id", "`parameters`"),
    (
        "SELECT <columns>, count(DISTINCT shares) AS n, <rest> FROM trades GROUP BY order_id",
        "approx_count_distinct",
    ),
    (
        "SELECT one.order_id, one.client, one.stock, 1 AS requested, 2 AS purchased, "
        "array(two.event_id) AS event_ids, one.appended_at "
        "FROM trades one JOIN trades two ON one.order_id = two.order_id",
        "read each stream once",
    ),
]


def start(spark: SparkSession, settings: AuditorSettings) -> None:
    """Prepare and start every watch and wait until one is refused."""
    with Inside(spark, settings) as inside:
        watch = inside["over-purchase"]
        inside.look_until("the refusal", lambda: watch.stopped is not None)
    raise Refused(str(watch.stopped))


@pytest.mark.parametrize(("sql", "said"), NEVER_RUN)
def test_query_that_can_never_run(spark: SparkSession, place: Place, sql: str, said: str) -> None:
    place.declare("over-purchase")
    rewrite(place, sql)
    with pytest.raises(Refused, match=r"^watch over-purchase: .*what to do: ") as refused:
        start(spark, settings_of(place))
    assert said in str(refused.value)
    assert len(str(refused.value)) < 1000


def test_too_few_slots(spark: SparkSession, place: Place) -> None:
    place.declare("over-purchase", "unusual-volume")
    with pytest.raises(Refused, match=r"10 slots are needed.*AUDITOR_SLOTS=10"):
        start(spark, settings_of(place, auditor_slots=9))


def test_missing_topic(spark: SparkSession, place: Place) -> None:
    place.declare("over-purchase")
    for path in place.folder.glob("*/*.yaml"):
        path.write_text(path.read_text().replace(place.stream, f"{place.stream}_nowhere"))
    with pytest.raises(Refused, match=r"topic \S+_nowhere does not exist: run python -m services"):
        start(spark, settings_of(place))


def test_brokers_away(spark: SparkSession, place: Place, tmp_path: Path) -> None:
    place.declare("over-purchase")
    nobody = f"127.0.0.1:{free_ports(1)[0]}"
    with pytest.raises(Transient, match="Kafka: "):
        start(spark, settings_of(place, kafka_bootstrap_servers=nobody))


def test_refusal_ends_the_program_with_its_own_code(place: Place) -> None:
    place.declare("over-purchase")
    rewrite(place, "DROP TABLE trades")
    assert "the SQL must be one SELECT, it is: DROP" in place.refused()
