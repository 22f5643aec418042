"""What is allowed in a routes file and yet hardly meant; each warning says what to do."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from services.contracts.recipients import is_ours, setting_of_name
from services.contracts.records import Severity
from services.lookout.routes.dead_routes import dead_routes
from services.lookout.routes.inhibitions import odd_inhibitions
from services.lookout.routes.nodes import Path as Place
from services.lookout.routes.parts import FilePart
from services.lookout.routes.patterns import misread_patterns
from services.lookout.routes.problems import Finding, Problem, hint
from services.lookout.routes.reading import Checked
from services.lookout.routes.send_part import NO_GROUP, NO_QUIET, REPEATS_LIMIT, SendPart
from services.lookout.routes.tellings import acting
from services.lookout.routes.tree import Spot, holders, recipients, sends, spots
from services.lookout.routes.unmet import unmet
from services.lookout.routes.unused import unused
from services.lookout.routes.watches import Watches
from services.lookout.routing import Target


@dataclass(frozen=True)
class Surroundings:
    """What a file is held against: the time, the settings' variables, the declared watches."""

    now: datetime
    variables: Collection[str] = ()
    watches: Watches | None = None
    """None where it is not known which watches there are."""
    names: Mapping[str, Collection[str]] = field(default_factory=dict)
    """Recipients that deliverers know by name, by channel; a channel not in it has told none."""


def lint(checked: Checked, around: Surroundings) -> list[Problem]:
    """Return warnings about a file in which nothing is wrong, by line."""
    found = [finding for rule in _RULES for finding in rule(checked, around)]
    found += unused(checked, around.variables)
    found += dead_routes(checked.part, checked.known, around.now)
    found += odd_inhibitions(checked.part, checked.known)
    found += misread_patterns(checked.part)
    if around.watches is not None:
        found += unmet(checked.part, checked.templates, around.watches)
    problems = {Problem(checked.document.line(place), reason) for place, reason in found}
    return sorted(problems, key=lambda each: (each.line, each.reason))


def _unreachable_people(checked: Checked, _: Surroundings) -> Iterator[Finding]:
    channels = checked.known.channels
    for name, reach in checked.part.people.items():
        missing = [channel for channel in reach if channel not in channels]
        if len(missing) == len(reach):
            known = ", ".join(missing)
            yield ("people", name), f"{name} has no channel in use: add one of {known}" + _SETTING
            continue
        for channel in missing:
            told = f"{name} is never told by {channel}: it is not in use, add it" + _SETTING
            yield ("people", name, channel), told


def _unknown_names(checked: Checked, around: Surroundings) -> Iterator[Finding]:
    filled = checked.known.filled
    for place, to in recipients(checked.part):
        for index, recipient in enumerate(to.to or ()):
            if wrong := _nameless(to.channel or "", filled(recipient), around):
                yield (*place, "to", index), f"{_teller(checked.part, place)} tells {wrong}"
    for name, reach in checked.part.people.items():
        for channel, recipient in reach.items():
            if channel in checked.known.channels and (
                wrong := _nameless(channel, filled(recipient), around)
            ):
                yield ("people", name, channel), f"{name} is told as {wrong}"


def _nameless(channel: str, recipient: str, around: Surroundings) -> str | None:
    """Say that a name stands in no setting of the deliverer, if that is known."""
    setting, known = setting_of_name(channel, recipient), around.names.get(channel)
    if setting is None or known is None or recipient in known:
        return None
    told = f"{recipient!r} by {channel}, a name that its deliverer does not know"
    return f"{told}: add it to {setting}{hint(recipient, known)}"


def _teller(part: FilePart, place: Place) -> str:
    """Name what holds a `send`: the innermost route, the default or an escalation."""
    if place[0] != "routes":
        return f"escalation {place[1]!r}" if place[0] == "escalations" else "the default"
    around = [each for each in spots(part.routes) if place[: len(each.place)] == each.place]
    return f"route {around[-1].part.name!r}"


def _endless_escalations(checked: Checked, _: Surroundings) -> Iterator[Finding]:
    for name, steps in checked.part.escalations.items():
        for number, step in enumerate(steps):
            if step.repeat is not None and step.repeat.times == REPEATS_LIMIT:
                yield (
                    ("escalations", name, number, "repeat"),
                    f"repeats {REPEATS_LIMIT} times, practically without end: give it `times`",
                )


def _early_escalations(checked: Checked, _: Surroundings) -> Iterator[Finding]:
    for each in acting(checked.part):
        name, group = each.options.escalate or "", each.options.group
        steps = checked.part.escalations.get(name)
        inherits = each.own.group is None and each.own.escalate is None
        if inherits or group is None or group is NO_GROUP or not steps:
            continue
        if (after := steps[0].after) <= group.wait:
            yield (
                (*each.place, "group" if each.own.escalate is None else "escalate"),
                f"escalation {name!r} begins {after:g}s after an alert, which its group holds back "
                f"for {group.wait:g}s: make `wait` shorter, or `after` longer",
            )


def _twice_in_a_step(checked: Checked, _: Surroundings) -> Iterator[Finding]:
    for name, steps in checked.part.escalations.items():
        for number, step in enumerate(steps):
            for index, target in _doubled(checked, step.send):
                yield (
                    ("escalations", name, number, "send", index),
                    f"{target.channel} to {target.recipient} stands in this step twice, "
                    "and gets one message: take it out",
                )


def _doubled(checked: Checked, told: Iterable[SendPart]) -> Iterator[tuple[int, Target]]:
    seen: set[Target] = set()
    for index, send in enumerate(told):
        for choices in checked.known.targets(send):
            if choices[0] in seen:
                yield index, choices[0]
            seen.add(choices[0])


def _useless_fallbacks(checked: Checked, _: Surroundings) -> Iterator[Finding]:
    for place, send in sends(checked.part):
        own = {choices[0].channel for choices in checked.known.targets(send)}
        for index, fallback in enumerate(send.fallback):
            for choices in checked.known.targets(fallback):
                if choices[0].channel in own:
                    yield (
                        (*place, "fallback", index),
                        f"falls back to the same channel, {choices[0].channel}: "
                        "what makes one fail often makes both fail",
                    )


def _topics_of_ours(checked: Checked, _: Surroundings) -> Iterator[Finding]:
    for place, to in recipients(checked.part):
        for index, recipient in enumerate(to.to or ()):
            topic = checked.known.filled(recipient)
            if to.channel == "bus" and is_ours(topic):
                yield (
                    (*place, "to", index),
                    f"topic {topic} is Aldebaran's own, and nothing is written to it: take another "
                    "one, unless ALDEBARAN_BUS_BOOTSTRAP_SERVERS names another cluster",
                )


def _old_silences(checked: Checked, around: Surroundings) -> Iterator[Finding]:
    for index, silence in enumerate(checked.part.silences):
        if silence.ends_at is not None and silence.ends_at <= around.now:
            yield (
                ("silences", index),
                f"silence {silence.name!r} is over since {silence.ends_at}: take it out",
            )


def _quiet_critical(checked: Checked, _: Surroundings) -> Iterator[Finding]:
    spared = {spot.place for spot in spots(checked.part.routes) if not _takes_critical(spot)}
    for place, holder in holders(checked.part):
        route = place[:-2] if place[-2:-1] == ("send",) else place
        quiet = holder.quiet
        if quiet is None or quiet is NO_QUIET or route in spared:
            continue
        if Severity.CRITICAL not in (quiet.unless or ()):
            yield (
                (*place, "quiet"),
                "holds back critical alerts too; if it should not, add `unless: critical`",
            )


def _takes_critical(spot: Spot) -> bool:
    wanted = [each.match.severity for each in (*spot.above, spot.part)]
    return all(each is None or Severity.CRITICAL in each for each in wanted)


_SETTING: Final = " to ALDEBARAN_CHANNELS"

Rule = Callable[[Checked, Surroundings], Iterator[Finding]]

_RULES: Final[tuple[Rule, ...]] = (
    _unreachable_people,
    _unknown_names,
    _endless_escalations,
    _early_escalations,
    _twice_in_a_step,
    _useless_fallbacks,
    _topics_of_ours,
    _old_silences,
    _quiet_critical,
)
