"""What is wrong with a routes file, by line, in words that say what to do."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from services.backbone.errors import Refused
from services.lookout.routes.nodes import Document
from services.lookout.routes.nodes import Path as Place

Finding = tuple[Place, str]
"""Where in the file's values something is wrong, and the reason."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: the line (from 1) and the reason; the file if not the routes'."""

    line: int
    reason: str
    file: str = ""


class BadRoutes(Refused):
    """A routes file that cannot be used; the message has one line per problem."""

    def __init__(self, name: str, problems: Collection[Problem]) -> None:
        self.problems = sorted(problems, key=lambda problem: (problem.file, problem.line))
        lines = [f"{each.file or name}:{each.line}: {each.reason}" for each in self.problems]
        super().__init__("routes cannot be used:\n" + "\n".join(lines))


def told(
    error: ValidationError, document: Document, parts: dict[str, type[BaseModel]], missing: str
) -> Iterator[Problem]:
    """Turn what pydantic has found into problems; `missing` explains a missing `default`."""
    details = error.errors(include_url=False, include_context=False, include_input=False)
    # A list whose only item is wrong is also called empty; only the innermost finding helps.
    inner = {detail["loc"][:depth] for detail in details for depth in range(len(detail["loc"]))}
    for detail in details:
        if detail["loc"] not in inner:
            yield Problem(document.line(detail["loc"]), _reason(detail, parts, missing))


def _reason(detail: ErrorDetails, parts: dict[str, type[BaseModel]], missing: str) -> str:
    place = detail["loc"]
    if detail["type"] == "extra_forbidden":
        return f"unknown key {place[-1]!r}" + hint(str(place[-1]), _known_keys(place[:-1], parts))
    if detail["type"] == "missing":
        return f"{place[-1]} is missing" + (f" ({missing})" if place == ("default",) else "")
    said = detail["msg"].removeprefix("Value error, ")
    return f"{'.'.join(str(part) for part in place) or 'file'}: {said}"


def _known_keys(place: Place, parts: dict[str, type[BaseModel]]) -> list[str]:
    names = [part for part in place if part in parts]
    fields = parts[str(names[-1]) if names else ""].model_fields
    return [field.alias or name for name, field in fields.items()]


def hint(word: str, known: Collection[str]) -> str:
    """Name the known word that is closest, or all of them."""
    if not known:
        return "; none is declared"
    return close_to(word, known) or f"; known are {', '.join(sorted(known))}"


def close_to(word: str, known: Collection[str], least: float = 0.6) -> str:
    """Name the known word that is closest; say nothing if none is close, 1 being the same."""
    close = get_close_matches(word, known, n=1, cutoff=least)
    return f", did you mean {close[0]!r}?" if close else ""
