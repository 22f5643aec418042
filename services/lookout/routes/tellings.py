"""Whose alerts are told in which words: what each route sends, with what it inherits."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce

from services.lookout.routes.building import inherited
from services.lookout.routes.match_part import MatchPart
from services.lookout.routes.nodes import Path as Place
from services.lookout.routes.parts import FilePart, OptionsPart
from services.lookout.routes.tree import spots
from services.lookout.templates.messages import SHIPPED


@dataclass(frozen=True, slots=True)
class Acting:
    """The default or a route: its conditions, behind those around it, and what holds for it."""

    place: Place
    line: list[MatchPart]
    own: OptionsPart
    options: OptionsPart


def acting(part: FilePart) -> Iterator[Acting]:
    """Return all that may act."""
    yield Acting(("default",), [], part.default, part.default)
    for spot in spots(part.routes):
        around = (*spot.above, spot.part)
        options = reduce(lambda above, own: inherited(own, above), around, OptionsPart())
        yield Acting(spot.place, [each.match for each in around], spot.part, options)


def lines_by_template(part: FilePart) -> Mapping[str, list[list[MatchPart]]]:
    """Return for each declared template the conditions of all whose alerts it may tell.

    One that is declared under a shipped name may tell any.
    """
    found: dict[str, list[list[MatchPart]]] = defaultdict(list)
    for name in SHIPPED:
        found[name].append([])
    for each in acting(part):
        for name in _templates(part, each.options):
            found[name].append(each.line)
    return {name: lines for name, lines in found.items() if name in part.templates}


def _templates(part: FilePart, options: OptionsPart) -> set[str]:
    steps = part.escalations.get(options.escalate or "", ())
    named = {send.template or options.template for send in options.send or ()}
    named |= {send.template for step in steps for send in step.send}
    return {name for name in named if name is not None}
