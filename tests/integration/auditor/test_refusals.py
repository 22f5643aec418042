"""Every refusal at start, against a real broker: each says what to do."""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from pyspark.sql import SparkSession

from auditor.job import prepare_all, supervise
from auditor.progress import Pulse
from auditor.settings import AuditorSettings
from auditor.stagger import Phase
from services.backbone.clock import SystemClock
from services.backbone.errors import Refused, Transient
from services.contracts.streams import load_streams
from services.contracts.watches import load_watches
from services.machine.ports import free_ports
from tests.integration.auditor.running import Place, wait_for

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

COLUMNS = "order_id, max(client) AS client, max(stock) AS stock, 1 AS requested, 2 AS purchased"
REST = "collect_set(event_id) AS event_ids, max(appended_at) AS appended_at"

NEVER_RUN = [
    ("SELECT <columns>, max(missing) AS event_ids FROM trades GROUP BY order_id", "column's name"),
    ("SELECT <columns>, :nothing AS n, <rest> FROM trades GROUP BY order_id", "`parameters`"),
    (
        "SELECT <columns>, <rest> FROM trades GROUP BY order_id, "
        "session_window(appended_at, '1 minute')",
        "sliding windows instead of session windows",
    ),
    (
        "SELECT <columns>, count(DISTINCT shares) AS n, <rest> FROM trades GROUP BY order_id",
        "approx_count_distinct",
    ),
    ("SELECT <columns>, <rest> FROM trades GROUP BY order_id ORDER BY order_id", "do not sort"),
    ("SELECT <columns>, <rest> FROM trades GROUP BY order_id LIMIT 5", "leave out LIMIT"),
    (
        "SELECT one.order_id, one.client, one.stock, 1 AS requested, 2 AS purchased, "
        "array(two.event_id) AS event_ids, one.appended_at "
        "FROM trades one JOIN trades two ON one.order_id = two.order_id",
        "read each stream once",
    ),
]


def settings_of(place: Place, **more: object) -> AuditorSettings:
    values: dict[str, object] = {
        "kafka_bootstrap_servers": place.bootstrap,
        "auditor_id": place.name,
        "auditor_watches": place.folder / "watches",
        "auditor_streams": place.folder / "streams",
        "auditor_checkpoints": place.folder / "checkpoints",
        "auditor_slots": 8,
        "auditor_batch_seconds": 5,
    } | more
    return AuditorSettings.model_validate(values)


def start(spark: SparkSession, settings: AuditorSettings) -> None:
    """Prepare and start every watch and wait until one is refused."""
    streams = load_streams(settings.auditor_streams)
    prepared = prepare_all(spark, settings, streams, load_watches(settings.auditor_watches))
    pulse = Pulse("w", 60, 0)
    phase, clock = Phase(settings.auditor_batch_seconds, 0.0), SystemClock()
    supervised = [supervise(spark, each, settings, phase, pulse, clock) for each in prepared]
    try:
        wait_for("the refusal", looking(supervised[0].look))
    finally:
        for item in supervised:
            item.stop()


def looking(look: Callable[[], None]) -> Callable[[], bool]:
    def again() -> bool:
        look()
        return False

    return again


def rewrite(place: Place, sql: str) -> None:
    path = place.folder / "watches" / "over-purchase.yaml"
    watch = yaml.safe_load(path.read_text())
    whole = sql.replace("<columns>", COLUMNS).replace("<rest>", REST)
    path.write_text(yaml.safe_dump(watch | {"sql": whole.replace("trades", place.stream)}))


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
    with pytest.raises(Refused, match=r"topic \S+_nowhere does not exist: declare it"):
        start(spark, settings_of(place))


def test_checkpoint_of_another_query(spark: SparkSession, place: Place) -> None:
    place.declare("over-purchase")
    settings = settings_of(place)
    streams = load_streams(settings.auditor_streams)
    prepare_all(spark, settings, streams, load_watches(settings.auditor_watches))
    path = place.folder / "watches" / "over-purchase.yaml"
    path.write_text(path.read_text().replace("limit: 24 hours", "limit: 25 hours"))
    with pytest.raises(Refused, match=r"another query \(changed: arguments\).*move the folder"):
        start(spark, settings)


def test_brokers_away(spark: SparkSession, place: Place, tmp_path: Path) -> None:
    place.declare("over-purchase")
    nobody = f"127.0.0.1:{free_ports(1)[0]}"
    with pytest.raises(Transient, match="Kafka: "):
        start(spark, settings_of(place, kafka_bootstrap_servers=nobody))


def test_refusal_ends_the_program_with_its_own_code(place: Place) -> None:
    place.declare("over-purchase")
    rewrite(place, "DROP TABLE trades")
    assert "the SQL must be one SELECT, it is: DROP" in place.refused()
