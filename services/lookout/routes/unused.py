"""What a routes file declares and never uses."""

from collections.abc import Collection, Iterator

from services.lookout.routes.declared import variables_in
from services.lookout.routes.nodes import Path as Place
from services.lookout.routes.parts import FilePart
from services.lookout.routes.problems import Finding
from services.lookout.routes.reading import Checked
from services.lookout.routes.tree import holders, matches, options, quiets, recipients
from services.lookout.templates.messages import SHIPPED


def unused(checked: Checked, given: Collection[str]) -> Iterator[Finding]:
    """Return the names that nothing refers to; `given` are the variables of the settings."""
    part = checked.part
    people = {name for _, to in recipients(part) for name in to.person}
    yield from _left("people", "person", part.people, people)
    yield from _left("times", "time", part.times, _used_times(part))
    templates = {each.template for _, each in holders(part)} | set(SHIPPED)
    yield from _left("templates", "template", part.templates, templates)
    escalations = {each.escalate for _, each in options(part)}
    yield from _left("escalations", "escalation", part.escalations, escalations)
    variables = _used_variables(part)
    yield from _left("variables", "variable", part.variables, variables)
    for name in sorted(set(given) - variables - part.variables.keys()):
        yield (
            ("variables",),
            f"ALDEBARAN_ROUTES_VARIABLES has {name!r}, which this file neither declares nor uses",
        )


def _left(
    key: str, what: str, names: Collection[str], used: Collection[str | None]
) -> Iterator[Finding]:
    for name in names:
        if name not in used:
            place: Place = (key, name)
            yield place, f"{what} {name!r} is never used"


def _used_times(part: FilePart) -> set[str | None]:
    used: set[str | None] = {each.during for each in part.silences}
    used.update(name for _, quiet in quiets(part) for name in quiet.names())
    used.update(name for _, match in matches(part) for name in (*match.during, *match.outside))
    return used


def _used_variables(part: FilePart) -> set[str]:
    texts = [text for _, to in recipients(part) for text in to.to or ()]
    texts += [text for reach in part.people.values() for text in reach.values()]
    return {name for text in texts for name in variables_in(text)}
