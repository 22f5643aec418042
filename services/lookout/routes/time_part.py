"""The part `times`: named times of the week."""

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from services.lookout.routes.part import Part, many
from services.lookout.routes.problems import close_to
from services.lookout.week_times import MINUTES_A_DAY, WeekPart

_DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_CLOCK: Final = re.compile(r"([01]\d|2[0-3]):([0-5]\d)|24:00")


def _days(value: Any) -> Any:
    """Read `mon-fri` and `sat`; a span may go over the week's end."""
    if not isinstance(value, str):
        return value
    first, dash, last = value.lower().partition("-")
    if first not in _DAYS or (dash and last not in _DAYS):
        raise ValueError(f"{value!r} is no day or span of days such as mon or mon-fri")
    start = _DAYS.index(first)
    length = (_DAYS.index(last) - start) % 7 if dash else 0
    return [(start + each) % 7 for each in range(length + 1)]


def _minute(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if not _CLOCK.fullmatch(value):
        raise ValueError(f"{value!r} is no time such as 08:00, from 00:00 to 24:00")
    return int(value[:2]) * 60 + int(value[3:])


def _zone(value: str) -> str:
    try:
        ZoneInfo(value).utcoffset(datetime(2000, 1, 1, tzinfo=UTC))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        close = close_to(value, available_timezones())
        raise ValueError(f"{value!r} is no time zone such as Europe/Paris{close}") from None
    return value


_Days = Annotated[tuple[int, ...], BeforeValidator(_days)]
_Spans = Annotated[tuple[_Days, ...], BeforeValidator(many), Field(min_length=1, max_length=7)]
_Minute = Annotated[int, BeforeValidator(_minute)]


class TimePart(Part):
    """One part of some times: days, from when to when, and whose clock."""

    days: _Spans = (tuple(range(7)),)
    start: Annotated[_Minute, Field(alias="from")] = 0
    to: _Minute = MINUTES_A_DAY
    zone: Annotated[str, Field(max_length=64), AfterValidator(_zone)] = "UTC"

    @model_validator(mode="after")
    def _some_time(self) -> Self:
        if self.start % MINUTES_A_DAY == self.to:
            raise ValueError("begins when it ends; write from: 00:00, to: 24:00 for whole days")
        if self.start == MINUTES_A_DAY:
            raise ValueError("from: 24:00 is the next day; write 00:00 there")
        return self

    def part(self) -> WeekPart:
        """Return these times."""
        days = frozenset(day for span in self.days for day in span)
        return WeekPart(days, self.start, self.to, ZoneInfo(self.zone))


TimesPart = Annotated[tuple[TimePart, ...], Field(min_length=1, max_length=32)]
