"""What a watch that comes, or a changed rule, is held to, and what runs already is not.

Refused at a restart, a watch that runs would stop, for a fault that it has had all along.
"""

from typing import Final

from pyspark.sql import SparkSession

from auditor.queries import guards
from auditor.queries.declared import Declared
from auditor.queries.origins import Origins
from auditor.queries.plan import never_ends
from auditor.queries.query import judged
from auditor.queries.trial import rows_over_nothing
from services.backbone.errors import Refused

NEVER_ENDS: Final = (
    "its groups never end, so each stays in the state for ever: add window(appended_at, …) to "
    "the GROUP BY, or keep a book"
)


def scrutinize(spark: SparkSession, declared: Declared) -> list[str]:
    """Return what is to be said of a watch that is taken all the same.

    Raises:
        Refused: it lists a stream that it does not read; has a word for today, which is that of its
            start; or it would tell one finding again and again, as its key is another each time
            that it is found.
        Transient: what Spark needs for it is not there just now, as memory.
    """
    guards.check_reads(declared.watch)
    guards.check_moments(declared.watch)
    rows = rows_over_nothing(spark.newSession(), declared)
    with judged(declared.name):
        origins = Origins(rows)
        passing = {column: origins.passing(column) for column in declared.watch.key}
        remarks = [NEVER_ENDS] if never_ends(rows) else []
    if found := [f"{column} is made of {each}()" for column, each in passing.items() if each]:
        raise Refused(
            f"watch {declared.name}: the key must be the same whenever it is found, and "
            f"{', '.join(found)}: take what events say, such as to_date(min(appended_at))"
        )
    return remarks
