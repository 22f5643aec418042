"""Deterministic ids in Spark SQL, equal to those of `services.contracts.ids`."""

from pyspark.sql import Column
from pyspark.sql import functions as F

from services.contracts.ids import ID_LENGTH


def digest(*parts: Column) -> Column:
    """Return the SQL form of `services.contracts.ids.digest`; no part may be null."""
    sized = [
        piece for part in parts for piece in (F.octet_length(part).cast("string"), F.lit(":"), part)
    ]
    return F.substring(F.sha2(F.concat(*sized), 256), 1, ID_LENGTH)
