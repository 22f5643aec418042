"""What may stand in a routes file, part by part."""

from typing import Annotated, Final

from pydantic import BaseModel, Field

from services.contracts.records import Name
from services.lookout.routes.match_part import MatchPart
from services.lookout.routes.part import Moment, Part, Span
from services.lookout.routes.send_part import (
    AlertFields,
    GroupPart,
    OwnGroup,
    OwnQuiet,
    QuietPart,
    RepeatPart,
    SendPart,
    Sends,
    StepPart,
    Steps,
    ToPart,
)
from services.lookout.routes.template_part import SamplePart, TemplatePart
from services.lookout.routes.time_part import TimePart, TimesPart

ROUTES_LIMIT: Final = 1000
"""Most routes of a whole file, inner ones too."""
ROUTES_DEPTH_LIMIT: Final = 8
"""How deep routes may stand in each other."""
TARGETS_LIMIT: Final = 1000
"""Most different recipients of a whole file, so also of one alert."""
NAMED_LIMIT: Final = 1000
"""Most times, people, escalations, inhibitions or silences of a file."""
TEMPLATES_LIMIT: Final = 100


class OptionsPart(Part):
    """What a route says of its alerts, or inherits."""

    send: Sends | None = None
    quiet: OwnQuiet = None
    group: OwnGroup = None
    template: Name | None = None
    escalate: Name | None = None


class RoutePart(OptionsPart):
    """One route, with those inside it."""

    name: Name
    match: Annotated[MatchPart, Field(default_factory=MatchPart)]
    goes_on: Annotated[bool, Field(alias="continue")] = False
    routes: Annotated[tuple["RoutePart", ...], Field(max_length=ROUTES_LIMIT)] = ()


class DefaultPart(OptionsPart):
    """Who is told of an alert that no route is for."""

    send: Sends


class InhibitionPart(Part):
    """Which alerts are held back while another one is fresh."""

    name: Name
    when: MatchPart
    mutes: MatchPart
    equal: AlertFields = ()
    lasts: Annotated[Span, Field(alias="for")] = 1800.0


_Said = Annotated[str, Field(min_length=1, max_length=512)]


class SilencePart(Part):
    """A maintenance window."""

    name: Name
    match: MatchPart
    starts_at: Annotated[Moment | None, Field(alias="from")] = None
    ends_at: Annotated[Moment | None, Field(alias="to")] = None
    during: Name | None = None
    author: _Said
    reason: _Said


class FilePart(Part):
    """The whole file."""

    version: Annotated[int, Field(ge=1, le=1)]
    variables: Annotated[dict[Name, str], Field(default_factory=dict, max_length=100)]
    times: Annotated[dict[Name, TimesPart], Field(default_factory=dict, max_length=NAMED_LIMIT)]
    people: Annotated[
        dict[Name, dict[Name, str]], Field(default_factory=dict, max_length=NAMED_LIMIT)
    ]
    templates: Annotated[
        dict[Name, TemplatePart], Field(default_factory=dict, max_length=TEMPLATES_LIMIT)
    ]
    escalations: Annotated[dict[Name, Steps], Field(default_factory=dict, max_length=NAMED_LIMIT)]
    inhibit: Annotated[tuple[InhibitionPart, ...], Field(max_length=NAMED_LIMIT)] = ()
    silences: Annotated[tuple[SilencePart, ...], Field(max_length=NAMED_LIMIT)] = ()
    routes: Annotated[tuple[RoutePart, ...], Field(max_length=ROUTES_LIMIT)] = ()
    default: DefaultPart


PARTS: Final[dict[str, type[BaseModel]]] = {
    "": FilePart,
    "times": TimePart,
    "templates": TemplatePart,
    "sample": SamplePart,
    "escalations": StepPart,
    "inhibit": InhibitionPart,
    "silences": SilencePart,
    "routes": RoutePart,
    "default": DefaultPart,
    "match": MatchPart,
    "when": MatchPart,
    "mutes": MatchPart,
    "send": SendPart,
    "fallback": ToPart,
    "quiet": QuietPart,
    "group": GroupPart,
    "repeat": RepeatPart,
}
"""Parts by the key that they stand under."""
