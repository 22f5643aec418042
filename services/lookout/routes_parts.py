"""What may stand in a routes file, part by part."""

from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from services.contracts.records import Name, Severity
from services.lookout.matching import Match

ROUTES_LIMIT: Final = 1000
RECIPIENTS_LIMIT: Final = 100
"""Most recipients of one route."""
TARGETS_LIMIT: Final = 1000
"""Most different recipients of a whole file, so also of one alert."""

_SEVERITIES: Final = tuple(Severity)


def _many(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _severities(value: Any) -> Any:
    if not isinstance(value, dict):
        return _many(value)
    least = value.get("at_least")
    if value.keys() != {"at_least"} or least not in _SEVERITIES:
        raise ValueError("write at_least: info, warning or critical")
    return list(_SEVERITIES[_SEVERITIES.index(least) :])


_Pattern = Annotated[str, Field(min_length=1, max_length=512)]
_Patterns = Annotated[
    tuple[_Pattern, ...], BeforeValidator(_many), Field(min_length=1, max_length=100)
]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class MatchPart(_Part):
    """The part `match` of a route."""

    watch: _Patterns | None = None
    severity: (
        Annotated[tuple[Severity, ...], BeforeValidator(_severities), Field(min_length=1)] | None
    ) = None
    labels: Annotated[dict[_Pattern, _Patterns], Field(max_length=32)] = {}

    def match(self) -> Match:
        """Return the conditions."""
        severity = None if self.severity is None else frozenset(self.severity)
        return Match(self.watch, severity, tuple(self.labels.items()))


class SendPart(_Part):
    """One channel with its recipients."""

    channel: Name
    to: Annotated[
        tuple[str, ...], BeforeValidator(_many), Field(min_length=1, max_length=RECIPIENTS_LIMIT)
    ]


_Sends = Annotated[tuple[SendPart, ...], Field(min_length=1, max_length=RECIPIENTS_LIMIT)]


class RoutePart(_Part):
    """One route."""

    name: Name
    match: MatchPart = MatchPart()
    send: _Sends
    goes_on: Annotated[bool, Field(alias="continue")] = False


class DefaultPart(_Part):
    """Who is told of an alert that no route is for."""

    send: _Sends


class FilePart(_Part):
    """The whole file."""

    version: Annotated[int, Field(ge=1, le=1)]
    variables: Annotated[dict[Name, str], Field(max_length=100)] = {}
    routes: Annotated[tuple[RoutePart, ...], Field(max_length=ROUTES_LIMIT)] = ()
    default: DefaultPart


PARTS: Final[dict[str, type[BaseModel]]] = {
    "": FilePart,
    "routes": RoutePart,
    "match": MatchPart,
    "send": SendPart,
    "default": DefaultPart,
}
"""Parts by the key that they stand under."""
