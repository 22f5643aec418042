"""Reads a routes file; tells line and reason of everything that is wrong with it."""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from services.lookout.routes.building import build
from services.lookout.routes.checks import checks
from services.lookout.routes.declared import Declared, declared
from services.lookout.routes.nodes import Document, Unreadable, read_document
from services.lookout.routes.parts import PARTS, FilePart
from services.lookout.routes.problems import BadRoutes, Problem, told
from services.lookout.routes.references import references
from services.lookout.routes.source import RoutesSource
from services.lookout.routes.template_part import Beside, Words
from services.lookout.routes.tree import matches, quiets
from services.lookout.routing import Routes, Template
from services.lookout.week_times import WeekTimes

_NOBODY: Final = "who is told of an alert that no route is for"


def load_routes(path: Path, channels: Collection[str], variables: Mapping[str, str]) -> Routes:
    """Read a routes file for these channels; `variables` add to those declared in it,
    or replace them.

    Raises:
        BadRoutes: with the line and the reason of everything that is wrong.
    """
    return Reading(channels, variables).load(RoutesSource(path))


def read_routes(
    text: str, channels: Collection[str], variables: Mapping[str, str], name: str = "routes"
) -> Routes:
    """Read the text of a routes file that has nothing beside it, like `load_routes`."""
    return Reading(channels, variables).read(text, name, _nothing)


@dataclass(frozen=True)
class Reading:
    """Reads routes for these channels and with these variables."""

    channels: Collection[str]
    variables: Mapping[str, str]

    def load(self, source: RoutesSource) -> Routes:
        """Read a routes file and what it includes; raises BadRoutes."""
        return self.checked(source).routes()

    def checked(self, source: RoutesSource) -> "Checked":
        """Read and check a routes file and what it includes; raises BadRoutes."""
        name = source.path.name
        try:
            text = source.text()
        except ValueError as error:
            raise BadRoutes(name, [Problem(1, str(error))]) from None
        return self.check(text, name, source.beside)

    def read(self, text: str, name: str, beside: Beside) -> Routes:
        """Read the text of a routes file; raises BadRoutes."""
        return self.check(text, name, beside).routes()

    def check(self, text: str, name: str, beside: Beside) -> "Checked":
        """Read and check the text of a routes file; raises BadRoutes."""
        document, part = _parts(text, name)
        known = declared(part, self.channels, self.variables)
        words = Words(document, beside)
        words.read(part.templates)
        found = [*references(part, known), *checks(part, _forgiving(part, known))]
        problems = {Problem(document.line(place), reason) for place, reason in found}
        if problems := problems.union(words.problems):
            raise BadRoutes(name, problems)
        return Checked(text, document, part, known, words.templates)


@dataclass(frozen=True)
class Checked:
    """A routes file in which nothing is wrong."""

    text: str
    document: Document
    part: FilePart
    known: Declared
    templates: Mapping[str, Template]

    def routes(self) -> Routes:
        """Return the routes."""
        return build(self.part, self.known, self.templates, self._version_id())

    def _version_id(self) -> str:
        words = [(each.name, each.subject, each.text) for each in self.templates.values()]
        known = (sorted(self.known.channels), sorted(self.known.variables.items()))
        return hashlib.sha256(repr((self.text, words, known)).encode()).hexdigest()[:16]


def _parts(text: str, name: str) -> tuple[Document, FilePart]:
    document = Document()
    try:
        document = read_document(text)
        return document, FilePart.model_validate(document.value)
    except Unreadable as error:
        raise BadRoutes(name, [Problem(error.line, error.reason)]) from None
    except ValidationError as error:
        raise BadRoutes(name, list(told(error, document, PARTS, _NOBODY))) from None


def _forgiving(part: FilePart, known: Declared) -> Declared:
    """A time that is unknown is never, so that the other checks can go on."""
    named = {name for _, match in matches(part) for name in (*match.during, *match.outside)}
    named |= {name for _, quiet in quiets(part) for name in quiet.names()}
    return replace(known, times={**{name: WeekTimes(name, ()) for name in named}, **known.times})


def _nothing(name: str) -> str:
    raise ValueError(f"{name!r} is not there: there are no files beside this text")
