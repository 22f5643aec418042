"""Reads Spark's plan of a query before it is started."""

from collections.abc import Iterator
from typing import Any, Final

from pyspark.sql import DataFrame

from engine.java import each_of

_SHUFFLING: Final = frozenset(
    {
        "Aggregate",
        "Deduplicate",
        "Distinct",
        "Repartition",
        "RepartitionByExpression",
        "TransformWithState",
    }
)
"""Nodes that each move rows once; Real-time Mode takes no others that would."""
_WATERMARK: Final = "spark.watermarkDelayMs"
"""Note of Spark's on a column that has a watermark, or is a window of one."""


def shuffles(frame: DataFrame) -> int:
    """Return how often the query moves rows between tasks, at most.

    Only what streams counts: a table is copied to each task that joins it, since Real-time Mode
    takes no other join, and all that is worked out of it alone has ended before events are read.
    """
    analyzed = frame._jdf.queryExecution().analyzed()  # noqa: SLF001 - PySpark has no other
    return sum(_moves(node) for node in _streaming(analyzed))


def never_ends(rows: DataFrame) -> bool:
    """Tell whether groups of the query stay in its state for ever.

    Spark drops those that are grouped by a time with a watermark, which only `appended_at` has.
    """
    analyzed = rows._jdf.queryExecution().analyzed()  # noqa: SLF001 - PySpark has no other
    return any(_groups_for_ever(node) for node in _streaming(analyzed))


def _groups_for_ever(node: Any) -> bool:
    match node.nodeName():
        case "Aggregate":
            columns = node.groupingExpressions()
        case "Distinct":
            columns = node.output()
        case _:
            return False
    each = list(each_of(columns))
    return bool(each) and not any(map(_has_watermark, each))


def _has_watermark(grouped: Any) -> bool:
    """What is worked out of such a column has none, `date_trunc('hour', appended_at)` too."""
    is_column = grouped.getClass().getSimpleName() == "AttributeReference"
    return is_column and bool(grouped.metadata().contains(_WATERMARK))


def _moves(node: Any) -> bool:
    if node.nodeName() == "Join":
        return _streams(node.left()) and _streams(node.right())
    return node.nodeName() in _SHUFFLING


def _streaming(node: Any) -> Iterator[Any]:
    """Yield the node and those below it that stream, the plans of subqueries among them."""
    if not _streams(node):
        return
    yield node
    for below in (node.children(), node.subqueries()):
        for each in each_of(below):
            yield from _streaming(each)


def _streams(node: Any) -> bool:
    return bool(node.isStreaming())
