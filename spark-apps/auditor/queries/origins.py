"""Of what a watch's columns are made, as Spark has read its SQL: down to the events it reads."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from pyspark.sql import DataFrame

from engine.java import each_of, is_of
from engine.queries import is_of_the_clock

_EXPRESSIONS: Final = "org.apache.spark.sql.catalyst.expressions"
_PASSING: Final = (
    "CurrentDate",
    "CurrentTime",
    "CurrentTimestampLike",
    "LocalTimestamp",
    "Nondeterministic",
)
"""Spark's kinds of what has another value another time: the clock's, and chance."""


class Origins:
    """All that the columns of a query are made of."""

    def __init__(self, frame: DataFrame) -> None:
        self._spark = frame.sparkSession
        self._plan = frame._jdf.queryExecution().analyzed()  # noqa: SLF001 - PySpark has no other
        self._sources: dict[int, list[Any]] = {}
        """By the id of each column that is made on the way: the expressions it is made of."""
        nodes = list(_down_to_events(self._plan))
        shared = {node.id(): node for node in nodes if _kind(node) == "CTERelationDef"}
        for node in nodes:
            for made, source in self._made_by(node, shared):
                self._sources.setdefault(made.exprId().id(), []).append(source)

    def passing(self, column: str) -> str | None:
        """Return what of the clock or of chance a column is made of; None of most columns."""
        ahead = [each for each in each_of(self._plan.output()) if each.name() == column]
        seen: set[int] = set()
        while ahead:
            part = ahead.pop()
            if any(self._is(part, kind) for kind in _PASSING) or self._reads_the_clock(part):
                return str(part.prettyName())
            ahead += self._below(part, seen)
        return None

    def _reads_the_clock(self, part: Any) -> bool:
        """Tell of a word such as 'today' that is made a date or time."""
        if not (self._is(part, "Cast") and self._is(part.child(), "Literal")):
            return False
        kind = part.dataType().typeName()
        return kind.startswith(("date", "timestamp")) and is_of_the_clock(str(part.child()))

    def _below(self, part: Any, seen: set[int]) -> Iterator[Any]:
        yield from each_of(part.children())
        if self._is(part, "RuntimeReplaceable"):
            yield part.replacement()
        if self._is(part, "PlanExpression"):
            yield from each_of(part.plan().output())
        if self._is(part, "AttributeReference") and (number := part.exprId().id()) not in seen:
            seen.add(number)
            yield from self._sources.get(number, ())

    def _made_by(self, node: Any, shared: dict[int, Any]) -> Iterator[tuple[Any, Any]]:
        """Yield each column that a node makes, with an expression that it is made of."""
        for each in each_of(node.expressions()):
            if self._is(each, "Alias"):
                yield each, each.child()
        match _kind(node):
            case "Union":
                for below in each_of(node.children()):
                    yield from _beside(node.output(), below.output())
            case "Expand":
                for projection in each_of(node.projections()):
                    yield from _beside(node.output(), projection)
            case "Generate":
                for made in each_of(node.generatorOutput()):
                    yield made, node.generator()
            case "CTERelationRef":
                yield from _beside(node.output(), shared[node.cteId()].output())

    def _is(self, part: Any, kind: str) -> bool:
        return is_of(self._spark, part, f"{_EXPRESSIONS}.{kind}")


def _down_to_events(node: Any) -> Iterator[Any]:
    """Yield the node and those below it, subqueries among them; not how records become events."""
    if _kind(node) == "EventTimeWatermark":
        return
    yield node
    for below in (node.children(), node.subqueries()):
        for each in each_of(below):
            yield from _down_to_events(each)


def _kind(node: Any) -> str:
    return str(node.getClass().getSimpleName())


def _beside(made: Any, sources: Any) -> Iterable[tuple[Any, Any]]:
    return zip(each_of(made), each_of(sources), strict=True)
