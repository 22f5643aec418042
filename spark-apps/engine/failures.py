"""What an error of Spark's says: its first line, and the whole text with all its causes."""

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

CAUSES_MAX: Final = 16
_QUERY: Final = "=== Streaming Query ==="
"""What begins the part of a message that shows the query, with its plan."""


def first_line(error: Exception | None) -> str:
    """Return the part of an error that fits into a log line."""
    java = getattr(error, "java_exception", None)
    text = str(error) if java is None else str(java.toString())
    return text.strip().split("\n")[0][:500] if error else "ended without an error"


def whole_text(error: Exception | None) -> str:
    """Return an error's text with those of all its causes, as far as Java and PySpark tell them.

    Without the plan of the query that ended: what its SQL quotes is nothing that happened.
    """
    causes = list(islice(_causes(error), CAUSES_MAX)) or [str(error)]
    return "\n".join(text.split(_QUERY, 1)[0] for text in causes)


def _causes(error: Any) -> Iterator[str]:
    while error is not None:
        yield str(error)
        yield from _java_causes(getattr(error, "_origin", None))
        yield from _java_causes(getattr(error, "java_exception", None))
        error = getattr(error, "_cause", None)


def _java_causes(raised: Any) -> Iterator[str]:
    while raised is not None:
        yield str(raised.toString())
        raised = raised.getCause()
