"""The part `match`: which alerts."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field

from services.contracts.records import LABELS_LIMIT, SHORT_LIMIT_CHARACTERS, Name, Severity
from services.lookout.matching import Match
from services.lookout.routes.part import Part, many
from services.lookout.week_times import WeekTimes

_SEVERITIES: Final = tuple(Severity)


def _severities(value: Any) -> Any:
    if not isinstance(value, dict):
        return many(value)
    least = value.get("at_least")
    if value.keys() != {"at_least"} or least not in _SEVERITIES:
        raise ValueError("write at_least: info, warning or critical")
    return list(_SEVERITIES[_SEVERITIES.index(least) :])


Pattern = Annotated[str, Field(min_length=1, max_length=SHORT_LIMIT_CHARACTERS)]
Patterns = Annotated[
    tuple[Pattern, ...], BeforeValidator(many), Field(min_length=1, max_length=100)
]
Severities = Annotated[tuple[Severity, ...], BeforeValidator(_severities), Field(min_length=1)]
TimesNames = Annotated[tuple[Name, ...], BeforeValidator(many), Field(max_length=16)]


class MatchPart(Part):
    """Conditions that must all hold."""

    watch: Patterns | None = None
    severity: Severities | None = None
    labels: Annotated[dict[Pattern, Patterns], Field(default_factory=dict, max_length=LABELS_LIMIT)]
    during: TimesNames = ()
    outside: TimesNames = ()

    def match(self, times: Mapping[str, WeekTimes]) -> Match:
        """Return the conditions; every time that they name must be among `times`."""
        severity = None if self.severity is None else frozenset(self.severity)
        inside = [times[name] for name in self.during]
        outside = [times[name].outside() for name in self.outside]
        return Match(self.watch, severity, tuple(self.labels.items()), (*inside, *outside))
