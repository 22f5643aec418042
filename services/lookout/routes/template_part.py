"""The part `templates`: words in the routes file or beside it, tried before they are used."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from pydantic import Field

from services.contracts.records import LABELS_LIMIT
from services.lookout.routes.nodes import Document
from services.lookout.routes.nodes import Path as Place
from services.lookout.routes.part import Part
from services.lookout.routes.problems import Problem
from services.lookout.routing import Template
from services.lookout.templates.trials import try_out

TEMPLATE_LIMIT_CHARACTERS: Final = 8192

_NUMBER: Final = re.compile(r"-?\d{1,15}(\.\d{1,15})?")

Beside = Callable[[str], str]
"""Returns the text of a file beside the routes file; raises ValueError with the reason."""

_Words = Annotated[str, Field(max_length=TEMPLATE_LIMIT_CHARACTERS)]


class SamplePart(Part):
    """Fields of the alert on which a template is tried."""

    key: Annotated[dict[str, str], Field(default_factory=dict, max_length=16)]
    labels: Annotated[dict[str, str], Field(default_factory=dict, max_length=LABELS_LIMIT)]
    values: Annotated[dict[str, str | list[str]], Field(default_factory=dict, max_length=64)]

    def fields(self) -> dict[str, dict[str, Any]]:
        """Return the fields; values that look like numbers are numbers."""
        values = {name: _value(value) for name, value in self.values.items()}
        return {"key": dict(self.key), "labels": dict(self.labels), "values": values}


class TemplatePart(Part):
    """The words of one kind of message, here or in a file beside the routes."""

    subject: _Words = ""
    text: _Words | None = None
    file: Annotated[str, Field(min_length=1, max_length=255)] | None = None
    sample: Annotated[SamplePart, Field(default_factory=SamplePart)]


@dataclass
class Words:
    """The templates of a file, and what is wrong with them."""

    document: Document
    beside: Beside
    templates: dict[str, Template] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def read(self, parts: Mapping[str, TemplatePart]) -> None:
        """Take in all templates of a file."""
        for name, part in parts.items():
            self.problems += self._taken(name, part)

    def _taken(self, name: str, part: TemplatePart) -> Iterator[Problem]:
        place = ("templates", name)
        if (part.text is None) == (part.file is None):
            yield self._problem(place, "write either `text` or `file`")
            return
        try:
            text = part.text if part.file is None else self._text(part.file)
        except ValueError as error:
            yield self._problem((*place, "file"), str(error))
            return
        template = Template(name, part.subject, text or "")
        self.templates[name] = template
        if failure := try_out(template, part.sample.fields()):
            reason = f"template {name!r}: {failure.reason}"
            if failure.part == "text" and part.file is not None:
                yield Problem(failure.line, reason, part.file)
            else:
                line = self.document.first_line((*place, failure.part)) + failure.line - 1
                yield Problem(line, reason)

    def _text(self, name: str) -> str:
        text = self.beside(name)
        if len(text) > TEMPLATE_LIMIT_CHARACTERS:
            raise ValueError(f"{name} has over {TEMPLATE_LIMIT_CHARACTERS} characters")
        return text

    def _problem(self, place: Place, reason: str) -> Problem:
        return Problem(self.document.line(place), reason)


def _value(written: str | list[str]) -> Any:
    if isinstance(written, list):
        return written
    if not _NUMBER.fullmatch(written):
        return written
    return float(written) if "." in written else int(written)
