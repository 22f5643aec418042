"""What a routes file names must be there: channels, people, times, templates, escalations."""

from collections.abc import Collection, Iterator

from services.contracts.recipients import complaint
from services.lookout.routes.declared import Declared, variables_in
from services.lookout.routes.nodes import Path as Place
from services.lookout.routes.part import NOTHING
from services.lookout.routes.parts import FilePart
from services.lookout.routes.problems import Finding, hint
from services.lookout.routes.send_part import NO_QUIET, QuietPart, ToPart
from services.lookout.routes.tree import holders, matches, options, quiets, recipients
from services.lookout.templates.messages import SHIPPED


def references(part: FilePart, declared: Declared) -> Iterator[Finding]:
    """Return everything that is named and not there, and recipients that cannot be."""
    for place, to in recipients(part):
        yield from _wrong_recipients(place, to, declared)
    yield from _wrong_people(part, declared)
    yield from _wrong_times(part, declared)
    templates = (*part.templates, *SHIPPED, NOTHING)
    for where, holder in holders(part):
        if holder.template is not None:
            yield from _unknown((*where, "template"), "template", holder.template, templates)
    for where, option in options(part):
        if option.escalate is not None:
            names = (*part.escalations, NOTHING)
            yield from _unknown((*where, "escalate"), "escalation", option.escalate, names)


def _wrong_recipients(place: Place, to: ToPart, declared: Declared) -> Iterator[Finding]:
    if bool(to.person) == (to.to is not None) or bool(to.person) == (to.channel is not None):
        yield place, "write either `channel` and `to`, or `person`"
        return
    if to.by and not to.person:
        yield (*place, "by"), "`by` chooses among a person's channels: write it with `person`"
    if to.channel is not None:
        yield from _unknown((*place, "channel"), "channel", to.channel, declared.channels)
        for index, recipient in enumerate(to.to or ()):
            if wrong := _complaint(to.channel, recipient, declared):
                yield (*place, "to", index), wrong
    for index, name in enumerate(to.person):
        yield from _unknown((*place, "person", index), "person", name, declared.people)
        yield from _wrong_choice(place, name, to.by, declared)


def _wrong_choice(
    place: Place, name: str, by: Collection[str], declared: Declared
) -> Iterator[Finding]:
    if person := declared.people.get(name):
        reach = [target.channel for target in person.targets]
        for index, channel in enumerate(by):
            if channel not in reach:
                yield (*place, "by", index), f"{name} has no {channel}{hint(channel, reach)}"
        if not declared.reach(person, by) and set(by) <= set(reach):
            known = ", ".join(sorted(declared.channels))
            yield place, f"{name} has no channel that is in use; ALDEBARAN_CHANNELS has {known}"


def _complaint(channel: str, recipient: str, declared: Declared) -> str | None:
    for name in variables_in(recipient):
        if name not in declared.variables:
            return f"variable {name!r} is not declared" + hint(name, declared.variables)
    return complaint(channel, declared.filled(recipient))


def _wrong_people(part: FilePart, declared: Declared) -> Iterator[Finding]:
    for name, reach in part.people.items():
        if not reach:
            yield (
                ("people", name),
                f"{name} has no channel: write one, such as email: a@example.com",
            )
        for channel, recipient in reach.items():
            if wrong := _complaint(channel, recipient, declared):
                yield ("people", name, channel), wrong


def _wrong_times(part: FilePart, declared: Declared) -> Iterator[Finding]:
    for place, match in matches(part):
        for key, names in (("during", match.during), ("outside", match.outside)):
            for index, name in enumerate(names):
                yield from _unknown((*place, key, index), "time", name, declared.times)
    for place, quiet in quiets(part):
        yield from _wrong_quiet(place, quiet, declared)
    for index, silence in enumerate(part.silences):
        if silence.during is not None:
            where = ("silences", index, "during")
            yield from _unknown(where, "time", silence.during, declared.times)


def _wrong_quiet(place: Place, quiet: QuietPart, declared: Declared) -> Iterator[Finding]:
    if quiet is not NO_QUIET and len(quiet.names()) != 1:
        yield place, "write either `during` or `outside` with the name of a time"
    for name in quiet.names():
        yield from _unknown(place, "time", name, declared.times)


def _unknown(place: Place, what: str, name: str, known: Collection[str]) -> Iterator[Finding]:
    if name not in known:
        yield place, f"unknown {what} {name!r}" + hint(name, known)
