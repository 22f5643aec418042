"""Declared fields of a stream: one declaration gives their Python type and their Spark SQL."""

import re
import sys
from datetime import datetime, timedelta
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    StringConstraints,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)

APPENDED_AT: Final = "appended_at"
"""Column of every stream's view: when the broker appended the event. A watch must return it."""

DATE: Final = "date"
"""Column of every stream's archive: day (UTC) of the append time; each has a folder of its own."""

HEARTBEAT_PREFIX: Final = "~beat-"
"""Text values that start so belong to heartbeats; nobody else's text may have it anywhere.

Nor in large letters: the SQL of a watch may make its key of a part of a text, or of its `lower`.
"""

DEFAULT_MAX_LENGTH: Final = 256
LONG_LIMIT: Final = 2**53
"""Whole numbers stay within what every JSON reader keeps exact."""
_DOUBLE_LIMIT: Final = sys.float_info.max
"""Beyond it lie Infinity and, for Spark, NaN: a sum with one of them tells nothing of a limit."""
_BIGINT_LIMIT: Final = 2**63
"""Spark makes NULL of whole numbers from here on."""

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_TIME: Final = re.compile(
    r"\d{4}-\d\d-\d\d[T ]([01]\d|2[0-3]):\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d(:?[0-5]\d)?)", re.ASCII
)
"""What of ISO 8601 both Python and Spark read; Spark makes NULL of other spellings, as of an
offset of 75 minutes or of midnight as 24:00, which newer Pythons read."""
_OFFSET_LIMIT: Final = timedelta(hours=18)
"""Java knows no zone farther away."""
_JSON_TYPES: Final = {
    "string": "string",
    "long": "number",
    "double": "number",
    "boolean": "boolean",
    "timestamp": "string",
}
_SPARK_TYPES: Final = {
    "string": "STRING",
    "long": "BIGINT",
    "double": "DOUBLE",
    "boolean": "BOOLEAN",
    "timestamp": "TIMESTAMP",
}


def _exact(value: Any, as_float: ValidatorFunctionWrapHandler) -> Any:
    """Whole numbers stay as they are written: a float knows no 2**63 - 1."""
    number = as_float(value)
    return value if type(value) is int else number


Bound = Annotated[FiniteFloat, WrapValidator(_exact)]


class FieldDeclaration(BaseModel):
    """One field of a stream's events."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["string", "long", "double", "boolean", "timestamp"]
    required: bool = True
    description: str = ""
    enum: tuple[str, ...] = ()
    max_length: Annotated[int, Field(ge=1, le=65_536)] = DEFAULT_MAX_LENGTH
    minimum: Bound | None = None
    maximum: Bound | None = None

    @model_validator(mode="after")
    def _rules_fit_the_type(self) -> Self:
        if self.enum and self.type != "string":
            raise ValueError(f"enum goes with type string, not {self.type}")
        if (self.minimum, self.maximum) != (None, None) and self.type not in ("long", "double"):
            raise ValueError(f"minimum and maximum go with numbers, not {self.type}")
        return self

    @model_validator(mode="after")
    def _bounds_leave_a_value(self) -> Self:
        stated = [bound for bound in (self.minimum, self.maximum) if bound is not None]
        if self.type == "long" and not all(map(_is_bigint, stated)):
            raise ValueError("minimum and maximum of a long are whole numbers of at most 64 bits")
        low, high = self.bounds
        if low is not None and high is not None and low > high:
            raise ValueError(f"no value is from minimum {low} to maximum {high}")
        return self

    @property
    def bounds(self) -> tuple[float | None, float | None]:
        """Smallest and largest value; whole numbers are always bounded."""
        if self.type != "long":
            return _float(self.minimum), _float(self.maximum)
        low = -LONG_LIMIT if self.minimum is None else int(self.minimum)
        high = LONG_LIMIT if self.maximum is None else int(self.maximum)
        return low, high

    @property
    def json_type(self) -> str:
        """What its values are in an event; none of another kind ever fits."""
        return _JSON_TYPES[self.type]

    @property
    def spark_type(self) -> str:
        """The column's type in Spark's DDL."""
        return _SPARK_TYPES[self.type]

    def python_type(self) -> Any:
        """Return the annotated type that pydantic validates an event's value with."""
        base = self._required_type()
        return base if self.required else base | None

    def _required_type(self) -> Any:
        if self.type == "string":
            return self._string_type()
        if self.type == "timestamp":
            return Annotated[str, StringConstraints(max_length=40), AfterValidator(_timestamp)]
        low, high = self.bounds
        if self.type == "long":
            return Annotated[int, Field(strict=True, ge=low, le=high)]
        if self.type == "double":
            return Annotated[float, Field(strict=True, ge=low, le=high, allow_inf_nan=False)]
        return Annotated[bool, Field(strict=True)]

    def _string_type(self) -> Any:
        if self.enum:
            return Literal[self.enum]
        limits = StringConstraints(strict=True, min_length=1, max_length=self.max_length)
        return Annotated[str, limits, AfterValidator(_plain_text)]

    def spark_predicate(self, column: str) -> str:
        """Return a SQL condition that holds for allowed values of this column."""
        rule = " AND ".join([f"{column} IS NOT NULL", *self._spark_rules(column)])
        return rule if self.required else f"({column} IS NULL OR ({rule}))"

    def _spark_rules(self, column: str) -> list[str]:
        if self.enum:
            return [f"{column} IN ({', '.join(map(_quoted, self.enum))})"]
        if self.type == "string":
            # Whoever has few bytes has few characters, and need not be gone through to count them.
            short = " OR ".join(
                f"{length}({column}) <= {self.max_length}" for length in ("octet_length", "length")
            )
            return [f"{column} <> ''", f"({short})", f"NOT contains({column}, '\\u0000')"]
        low, high = self._spark_bounds()
        rules = [f"{column} >= {low}"] if low is not None else []
        return rules + ([f"{column} <= {high}"] if high is not None else [])

    def _spark_bounds(self) -> tuple[float | None, float | None]:
        """JSON knows finite numbers only, which Spark does not hold a double to."""
        low, high = self.bounds
        if self.type != "double":
            return low, high
        return (
            -_DOUBLE_LIMIT if low is None else low,
            _DOUBLE_LIMIT if high is None else high,
        )


def _is_bigint(bound: float) -> bool:
    return bound % 1 == 0 and -_BIGINT_LIMIT <= bound < _BIGINT_LIMIT


def _float(bound: float | None) -> float | None:
    """Spark has no whole number of more than 38 digits; a large float it reads as a DOUBLE."""
    return None if bound is None else float(bound)


def _quoted(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"


def _plain_text(value: str) -> str:
    if _CONTROL.search(value):
        raise ValueError("control characters are not allowed")
    if HEARTBEAT_PREFIX in value.lower():
        raise ValueError(f"texts with {HEARTBEAT_PREFIX} in them are reserved for heartbeats")
    return value


def _timestamp(value: str) -> str:
    written = _TIME.fullmatch(value)
    offset = datetime.fromisoformat(value).utcoffset() if written else None
    if offset is None or abs(offset) > _OFFSET_LIMIT:
        raise ValueError("a time needs seconds and its zone, for example 2026-11-21T09:30:00Z")
    return value
