"""Rows that Spark reads from one text: `createDataFrame` passes them through Python processes."""

import json
from base64 import b64encode
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType


def laid(spark: SparkSession, rows: Iterable[Sequence[Any]], columns: str) -> DataFrame:
    """Return these rows, in their sequence and in one partition; `columns` is DDL."""
    declared = StructType.fromDDL(columns)
    assert isinstance(declared, StructType)
    named = [dict(zip(declared.names, row, strict=True)) for row in rows]
    text = F.lit(json.dumps(named, default=_written))
    read = F.from_json(text, f"ARRAY<STRUCT<{columns}>>")
    return spark.range(1, numPartitions=1).select(F.inline(read))


def _written(value: bytes | datetime) -> str:
    return value.isoformat() if isinstance(value, datetime) else b64encode(value).decode()
