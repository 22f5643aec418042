"""What is said of options of the Kafka client that Spark does not take: no broker is asked."""

import pytest
from pydantic import SecretStr
from pyspark.sql import SparkSession

from auditor.queries.query import source
from auditor.settings import AuditorSettings
from services.backbone.errors import Refused

OF_SPARKS_OWN = ("auto.offset.reset", "enable.auto.commit", "value.deserializer")


@pytest.mark.parametrize("option", OF_SPARKS_OWN)
def test_an_option_that_spark_sets_itself_is_refused_with_its_name(
    spark: SparkSession, option: str
) -> None:
    settings = AuditorSettings(auditor_kafka_options={option: SecretStr("hunter2")})
    with pytest.raises(Refused, match=r"^ALDEBARAN_AUDITOR_KAFKA_OPTIONS: ") as refused:
        source(spark, settings, "trades")
    assert option in str(refused.value)
    assert "hunter2" not in str(refused.value)
