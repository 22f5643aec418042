"""Reads Spark's plan of a query before it is started."""

import re
from typing import Final

from pyspark.sql import DataFrame

_SHUFFLING: Final = re.compile(
    r"^[\s:+-]*~?(?:Aggregate|Deduplicate|Join|TransformWithState)\b", re.MULTILINE
)


def shuffles(frame: DataFrame) -> int:
    """Return how often the query moves rows between tasks, at most."""
    plan = frame._jdf.queryExecution().analyzed().toString()  # noqa: SLF001 - PySpark has no other
    return len(_SHUFFLING.findall(plan))
