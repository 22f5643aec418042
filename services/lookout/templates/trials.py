"""Tries a template on sample alerts, so that it fails when it is read and not when it is needed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from jinja2 import nodes

from services.contracts.records import Alert, Severity
from services.lookout.routing import Template
from services.lookout.templates.messages import Occasion, message_of
from services.lookout.templates.rendering import Links
from services.lookout.templates.sandbox import Broken, parsed

_KINDS: Final[Sequence[Any]] = (42, "north", ["a", "b"], {"name": "north"})
_LINKS: Final = Links("https://example.com/acknowledge", "https://example.com/alert")
_SECTIONS: Final = ("key", "labels", "values")
_SUMMARY: Final = "a sample: 10 % over “the limit”"

Samples = Mapping[str, Mapping[str, Any]]
"""Given fields of sample alerts, under `key`, `labels` and `values`."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What failed: `subject` or `text`, the line in it (from 1), the reason."""

    part: str
    line: int
    reason: str


def try_out(template: Template, given: Samples) -> Failure | None:
    """Render samples with all fields that the template names, and without labels.

    A value that the template names is a number, a text, a list or an object, as the template
    likes it, unless it is given.
    """
    try:
        trees = _trees(template)
    except Broken:
        return _failure(template, Occasion(_alert({}), "route", _LINKS))
    named = {section: _named(trees, section) for section in _SECTIONS}
    failures = []
    for kind in _KINDS:
        whole = _fields(named, given, kind)
        failures.append(_first(template, [whole, {**whole, "labels": {}}]))
        if failures[-1] is None:
            return None
    return failures[0] if failures[0] else None


def fields_of(template: Template) -> set[str]:
    """Return the fields of an alert that a template names, such as `labels.zone`.

    Raises:
        Broken: it is no template.
    """
    trees = _trees(template)
    return {f"{section}.{name}" for section in _SECTIONS for name in _named(trees, section)}


def _first(template: Template, fields: Sequence[Samples]) -> Failure | None:
    occasions = [Occasion(_alert(each), "route", _LINKS) for each in fields]
    bare = _alert({**fields[0], "event_ids": [], "severity": Severity.INFO})
    occasions.append(Occasion(bare, "route"))
    found = (_failure(template, occasion) for occasion in occasions)
    return next((each for each in found if each is not None), None)


def _failure(template: Template, occasion: Occasion) -> Failure | None:
    """Whether the subject or the text fails is found by rendering the text alone."""
    try:
        message_of(Template(template.name, "", template.text), occasion)
    except Broken as error:
        return Failure("text", error.line, error.reason)
    try:
        message_of(template, occasion)
    except Broken as error:
        return Failure("subject", error.line, error.reason)
    return None


def _fields(named: Mapping[str, set[str]], given: Samples, kind: Any) -> dict[str, dict[str, Any]]:
    samples: dict[str, dict[str, Any]] = {
        "key": {"id": "7", **dict.fromkeys(named["key"], "7")},
        "labels": dict.fromkeys(named["labels"], "north"),
        "values": dict.fromkeys(named["values"], kind),
    }
    return {section: {**samples[section], **given.get(section, {})} for section in samples}


def _alert(fields: Mapping[str, Any]) -> Alert:
    given: dict[str, Any] = {
        "alert_id": "0" * 32,
        "watch": "sample",
        "severity": Severity.CRITICAL,
        "summary": _SUMMARY,
        "key": {"id": "7"},
        "event_ids": ["e1", "e2"],
        "appended_at_ms": 1_795_253_400_125,
        "detected_at_ms": 1_795_253_400_128,
        "auditor": "a",
    }
    return Alert(**given | dict(fields))


def _trees(template: Template) -> tuple[nodes.Template, nodes.Template]:
    return parsed(template.subject), parsed(template.text)


def _named(trees: Iterable[nodes.Template], section: str) -> set[str]:
    """Return the fields of a section that templates name: `alert.values.x`, `alert.values["x"]`."""
    found: set[str] = set()
    for tree in trees:
        found.update(n.attr for n in tree.find_all(nodes.Getattr) if _is_section(n.node, section))
        for item in tree.find_all(nodes.Getitem):
            if _is_section(item.node, section) and isinstance(item.arg, nodes.Const):
                found.add(str(item.arg.value))
    return found


def _is_section(node: nodes.Node, section: str) -> bool:
    return (
        isinstance(node, nodes.Getattr)
        and node.attr == section
        and isinstance(node.node, nodes.Name)
        and node.node.name == "alert"
    )
