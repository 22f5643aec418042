"""Reads a routes file; tells line and reason of everything that is wrong with it."""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import replace
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
        raise BadRoutes(name, list(told(error, document, PARTS, _NOBODY))) from None
    known = declared(part, channels, variables)
    if problems := _problems(part, known, document):
        raise BadRoutes(name, problems)
    return build(part, known, _templates(part), _version_id(text, known))


def _problems(part: FilePart, known: Declared, document: Document) -> set[Problem]:
    found = [*references(part, known), *checks(part, _forgiving(part, known))]
    return {Problem(document.line(place), reason) for place, reason in found}


def _forgiving(part: FilePart, known: Declared) -> Declared:
    """A time that is unknown is never, so that the other checks can go on."""
    named = {name for _, match in matches(part) for name in (*match.during, *match.outside)}
    named |= {name for _, quiet in quiets(part) for name in quiet.names()}
    return replace(known, times={**{name: WeekTimes(name, ()) for name in named}, **known.times})


def _templates(part: FilePart) -> dict[str, Template]:
    return {
        name: Template(name, each.subject or "", each.text or "")
        for name, each in part.templates.items()
    }


def _version_id(text: str, known: Declared) -> str:
    said = repr((text, sorted(known.channels), sorted(known.variables.items())))
    return hashlib.sha256(said.encode()).hexdigest()[:16]
