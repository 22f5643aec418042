"""From the parts of a checked routes file to routes: what is inherited is filled in."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from services.lookout.routes.declared import Declared
from services.lookout.routes.part import NOTHING
from services.lookout.routes.parts import (
    FilePart,
    InhibitionPart,
    OptionsPart,
    RoutePart,
    SilencePart,
)
from services.lookout.routes.send_part import (
    NO_GROUP,
    NO_QUIET,
    GroupPart,
    QuietPart,
    RepeatPart,
    SendPart,
    StepPart,
)
from services.lookout.routing import (
    Escalation,
    Grouping,
    Inhibition,
    Instruction,
    Quiet,
    Route,
    Routes,
    SilenceRule,
    Step,
    Target,
    Template,
)


def build(
    part: FilePart, declared: Declared, templates: Mapping[str, Template], version_id: str
) -> Routes:
    """Return the routes of a file in which everything that is named is there."""
    building = Building(declared)
    nothing = OptionsPart()
    default = inherited(part.default, nothing)
    return Routes(
        roots=tuple(building.route(each, nothing) for each in part.routes),
        default=building.instructions(default, "default"),
        default_escalation=_own(default.escalate),
        version_id=version_id,
        times=declared.times,
        people=declared.people,
        templates=templates,
        escalations={
            name: Escalation(name, tuple(building.step(each, name) for each in steps))
            for name, steps in part.escalations.items()
        },
        inhibitions=tuple(building.inhibition(each) for each in part.inhibit),
        silences=tuple(building.silence(each) for each in part.silences),
    )


def inherited(own: OptionsPart, above: OptionsPart) -> OptionsPart:
    """Return what holds for a route: what it says, and what those around it say."""
    names = OptionsPart.model_fields
    said = {name: getattr(own, name) for name in names if getattr(own, name) is not None}
    return above.model_copy(update=said)


@dataclass(frozen=True)
class Building:
    """Makes the values of one file."""

    declared: Declared

    def route(self, part: RoutePart, above: OptionsPart) -> Route:
        """Return one route with those inside it."""
        options = inherited(part, above)
        return Route(
            name=part.name,
            match=part.match.match(self.declared.times),
            instructions=self.instructions(options, part.name),
            goes_on=part.goes_on,
            escalation=_own(options.escalate),
            routes=tuple(self.route(each, options) for each in part.routes),
        )

    def instructions(self, options: OptionsPart, route: str) -> tuple[Instruction, ...]:
        """Return one instruction per recipient or person."""
        return tuple(
            each for send in options.send or () for each in self._send(send, options, route)
        )

    def step(self, part: StepPart, name: str) -> Step:
        """Return one step of an escalation."""
        repeat = part.repeat or RepeatPart(every=1)
        return Step(
            after_seconds=part.after,
            instructions=self.instructions(OptionsPart(send=part.send), f"escalation {name}"),
            repeat_every_seconds=repeat.every if part.repeat else None,
            repeat_times=repeat.times if part.repeat else 0,
            slower=repeat.slower,
        )

    def inhibition(self, part: InhibitionPart) -> Inhibition:
        """Return one inhibition."""
        times = self.declared.times
        return Inhibition(
            part.name, part.when.match(times), part.mutes.match(times), part.equal, part.lasts
        )

    def silence(self, part: SilencePart) -> SilenceRule:
        """Return one maintenance window."""
        return SilenceRule(
            name=part.name,
            match=part.match.match(self.declared.times),
            author=part.author,
            reason=part.reason,
            starts_at=part.starts_at,
            ends_at=part.ends_at,
            during=self.declared.times[part.during] if part.during else None,
        )

    def _send(self, send: SendPart, options: OptionsPart, route: str) -> Iterator[Instruction]:
        held = options.quiet if send.quiet is None else send.quiet
        later = tuple(
            target
            for part in send.fallback
            for choices in self.declared.targets(part)
            for target in choices
        )
        for first, *others in self.declared.targets(send):
            yield Instruction(
                target=first,
                route=route,
                template=_own(send.template or options.template),
                fallback=_without(first, (*others, *later)),
                fallback_on_held=send.fallback_on == "held",
                quiet=self._quiet(held),
                grouping=_grouping(options.group),
            )

    def _quiet(self, part: QuietPart | None) -> Quiet | None:
        if part is None or part is NO_QUIET:
            return None
        times = self.declared.times
        held = times[part.during] if part.during else times[part.outside or ""].outside()
        return Quiet(held, frozenset(part.unless or ()))


def _own(name: str | None) -> str | None:
    return None if name == NOTHING else name


def _without(first: Target, others: tuple[Target, ...]) -> tuple[Target, ...]:
    return tuple(dict.fromkeys(each for each in others if each != first))


def _grouping(part: GroupPart | None) -> Grouping | None:
    if part is None or part is NO_GROUP:
        return None
    return Grouping(part.by, part.wait, part.limit)
