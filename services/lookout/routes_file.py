"""Reads a routes file; tells line and reason of everything that is wrong with it."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from services.backbone.errors import Refused
from services.contracts.recipients import complaint
from services.lookout.nodes import Document, Unreadable, read_document
from services.lookout.nodes import Path as Place
from services.lookout.routes_parts import PARTS, TARGETS_LIMIT, FilePart, SendPart
from services.lookout.routing import DEFAULT, Route, Routes, Target

_VARIABLE: Final = re.compile(r"\$\{([^}]*)\}")


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: the line (from 1) and the reason."""

    line: int
    reason: str


class BadRoutes(Refused):
    """A routes file that cannot be used; the message has one line per problem."""

    def __init__(self, name: str, problems: Collection[Problem]) -> None:
        self.problems = sorted(problems, key=lambda problem: problem.line)
        lines = [f"{name}:{each.line}: {each.reason}" for each in self.problems]
        super().__init__("routes cannot be used:\n" + "\n".join(lines))


def load_routes(path: Path, channels: Collection[str], variables: Mapping[str, str]) -> Routes:
    """Read a routes file for these channels; `variables` add to those declared in it,
    or replace them.

    Raises:
        BadRoutes: with the line and the reason of everything that is wrong.
    """
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise BadRoutes(path.name, [Problem(1, f"cannot be read: {error}")]) from None
    return read_routes(text, channels, variables, path.name)


def read_routes(
    text: str, channels: Collection[str], variables: Mapping[str, str], name: str = "routes"
) -> Routes:
    """Read the text of a routes file, like `load_routes`."""
    try:
        document = read_document(text)
        part = FilePart.model_validate(document.value)
    except Unreadable as error:
        raise BadRoutes(name, [Problem(error.line, error.reason)]) from None
    except ValidationError as error:
        raise BadRoutes(name, list(_told(error, document))) from None
    reading = _Reading(document, frozenset(channels), {**part.variables, **variables})
    found = reading.problems(part)
    if problems := {Problem(document.line(place), reason) for place, reason in found}:
        raise BadRoutes(name, problems)
    return reading.routes(part)


Finding = tuple[Place, str]


@dataclass(frozen=True)
class _Reading:
    document: Document
    channels: frozenset[str]
    variables: Mapping[str, str]

    def routes(self, part: FilePart) -> Routes:
        routes = [
            Route(each.name, each.match.match(), self._targets(each.send), each.goes_on)
            for each in part.routes
        ]
        return Routes(tuple(routes), self._targets(part.default.send))

    def problems(self, part: FilePart) -> Iterator[Finding]:
        yield from self._wrong_sends(("default", "send"), part.default.send)
        for index, route in enumerate(part.routes):
            yield from self._wrong_sends(("routes", index, "send"), route.send)
        yield from _wrong_names(part)
        yield from _unreachable(part)
        everybody = {target for route in part.routes for target in self._targets(route.send)}
        if len(everybody) > TARGETS_LIMIT:
            yield ("routes",), f"over {TARGETS_LIMIT} different recipients in one file"

    def _targets(self, sends: tuple[SendPart, ...]) -> tuple[Target, ...]:
        return tuple(Target(send.channel, self._filled(to)) for send in sends for to in send.to)

    def _filled(self, recipient: str) -> str:
        return _VARIABLE.sub(lambda found: self.variables.get(found[1], found[0]), recipient)

    def _wrong_sends(self, place: Place, sends: tuple[SendPart, ...]) -> Iterator[Finding]:
        for number, send in enumerate(sends):
            if send.channel not in self.channels:
                reason = f"unknown channel {send.channel!r}"
                yield (*place, number, "channel"), reason + _hint(send.channel, self.channels)
            for index, recipient in enumerate(send.to):
                if wrong := self._wrong_recipient(send.channel, recipient):
                    yield (*place, number, "to", index), wrong

    def _wrong_recipient(self, channel: str, recipient: str) -> str | None:
        for name in _VARIABLE.findall(recipient):
            if name not in self.variables:
                return f"variable {name!r} is not declared" + _hint(name, self.variables)
        return complaint(channel, self._filled(recipient))


def _told(error: ValidationError, document: Document) -> Iterator[Problem]:
    details = error.errors(include_url=False, include_context=False, include_input=False)
    # A list whose only item is wrong is also called empty; only the innermost finding helps.
    inner = {detail["loc"][:depth] for detail in details for depth in range(len(detail["loc"]))}
    for detail in details:
        if detail["loc"] not in inner:
            yield Problem(document.line(detail["loc"]), _reason(detail))


def _reason(detail: ErrorDetails) -> str:
    place = detail["loc"]
    if detail["type"] == "extra_forbidden":
        return f"unknown key {place[-1]!r}" + _hint(str(place[-1]), _known_keys(place[:-1]))
    if detail["type"] == "missing":
        return f"{place[-1]} is missing" + (
            " (who is told of an alert that no route is for)" if place == (DEFAULT,) else ""
        )
    return f"{'.'.join(str(part) for part in place) or 'file'}: {detail['msg']}"


def _known_keys(place: Place) -> list[str]:
    names = [part for part in place if isinstance(part, str)]
    fields = PARTS[names[-1] if names else ""].model_fields
    return [field.alias or name for name, field in fields.items()]


def _hint(word: str, known: Collection[str]) -> str:
    close = get_close_matches(word, known, n=1)
    return f", did you mean {close[0]!r}?" if close else f"; known are {', '.join(sorted(known))}"


def _wrong_names(part: FilePart) -> Iterator[Finding]:
    seen: set[str] = set()
    for index, route in enumerate(part.routes):
        if route.name in seen or route.name == DEFAULT:
            reason = "is reserved" if route.name == DEFAULT else "is used by a route above"
            yield ("routes", index, "name"), f"the name {route.name!r} {reason}"
        seen.add(route.name)


def _unreachable(part: FilePart) -> Iterator[Finding]:
    ends = [
        (index, route, route.match.match())
        for index, route in enumerate(part.routes)
        if not route.goes_on
    ]
    for index, route in enumerate(part.routes):
        match = route.match.match()
        for above, taker, taken in ends:
            if above < index and taken.covers(match):
                reason = f"route {route.name!r} is never reached: {taker.name!r} above takes all"
                yield ("routes", index), f"{reason} its alerts and does not continue"
                break
