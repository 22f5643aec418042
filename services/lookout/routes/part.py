"""What every part of a routes file has in common."""

from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict

from services.contracts.durations import seconds

NOTHING: Final = "none"
"""Takes back what a route inherits."""


class Part(BaseModel):
    """One part: immutable, without keys that it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def many(value: Any) -> Any:
    """Take one text for a list of one."""
    return [value] if isinstance(value, str) else value


def _span(value: Any) -> Any:
    return seconds(value) if isinstance(value, str) else value


def _whole_span(value: float) -> float:
    if not SPAN_LEAST_SECONDS <= value <= SPAN_MOST_SECONDS:
        raise ValueError("write a span from 1s to 30d")
    return value


SPAN_LEAST_SECONDS: Final = 1.0
SPAN_MOST_SECONDS: Final = 30 * 86_400.0

Span = Annotated[float, BeforeValidator(_span), AfterValidator(_whole_span)]
"""A span of time in seconds, written as `30s` or `5 minutes`."""
