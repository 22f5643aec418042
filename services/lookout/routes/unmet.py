"""A routes file held against the declared watches: names and fields that no alert has."""

from collections.abc import Iterator, Mapping

from services.lookout.routes.nodes import Path as Place
from services.lookout.routes.parts import FilePart, InhibitionPart
from services.lookout.routes.problems import Finding
from services.lookout.routes.tellings import lines_by_template
from services.lookout.routes.tree import groups, lines
from services.lookout.routes.watches import Alerts, Line, Watches
from services.lookout.routing import Template
from services.lookout.templates.trials import fields_of


def unmet(part: FilePart, templates: Mapping[str, Template], watches: Watches) -> Iterator[Finding]:
    """Return what no alert of a watch can meet, and fields that none has."""
    alerts = Alerts(watches)
    for place, line in lines(part):
        yield from _conditions(place, line, watches, alerts)
    for index, inhibition in enumerate(part.inhibit):
        yield from _equal(("inhibit", index, "equal"), inhibition, alerts)
    for place, line, group in groups(part):
        for index, field in enumerate(group.by):
            if "." in field and (lack := alerts.lack(field, line)):
                yield (*place, "by", index), f"`group` tells nothing apart by it: {lack}"
    yield from _words(part, templates, alerts)


def _conditions(place: Place, line: Line, watches: Watches, alerts: Alerts) -> Iterator[Finding]:
    own = line[-1]
    for index, pattern in enumerate(own.watch or ()):
        if (near := watches.slip(pattern)) is not None:
            yield (*place, "watch", index), f"no declared watch is {pattern}{near}"
    for label in own.labels:
        if lack := alerts.lack(f"labels.{label}", line):
            yield (*place, "labels", label), lack
    if (told := alerts.lack_severity(line)) and not alerts.lack_severity(line[:-1]):
        yield (*place, "severity" if own.severity else "watch"), told


def _equal(place: Place, inhibition: InhibitionPart, alerts: Alerts) -> Iterator[Finding]:
    """Fields that both lack are alike, so one that none has parts nothing; of one that only one
    side has, alerts without it are alike, such as those of a watch that does not declare it."""
    sides = ([inhibition.when], [inhibition.mutes])
    for index, field in enumerate(inhibition.equal):
        if "." not in field:
            continue
        if lack := alerts.lack(field, *sides):
            yield (*place, index), f"`equal` tells nothing apart by it: {lack}"
            continue
        for lack in filter(None, (alerts.lack(field, side) for side in sides)):
            yield (*place, index), f"`equal` finds alike only alerts without it: {lack}"


def _words(part: FilePart, templates: Mapping[str, Template], alerts: Alerts) -> Iterator[Finding]:
    for name, told in lines_by_template(part).items():
        for field in sorted(fields_of(templates[name])):
            if lack := alerts.lack(field, *told):
                yield ("templates", name), f"template {name!r}: {lack}"
