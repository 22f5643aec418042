"""What every part of a routes file has in common."""

from datetime import UTC, datetime
from typing import Annotated, Any, Final

from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict

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


def _also_in_utc(value: datetime) -> datetime:
    try:
        value.astimezone(UTC)
    except OverflowError:
        raise ValueError("in UTC it is outside of the years 1 to 9999") from None
    return value


SPAN_LEAST_SECONDS: Final = 1.0
SPAN_MOST_SECONDS: Final = 30 * 86_400.0

Span = Annotated[float, BeforeValidator(_span), AfterValidator(_whole_span)]
"""A span of time in seconds, written as `30s` or `5 minutes`."""

Moment = Annotated[AwareDatetime, AfterValidator(_also_in_utc)]
"""A moment with its zone, which UTC can tell too."""
