"""What docs/kubernetes.md lets each program do at the brokers is what its code names."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from services.accountant.settings import AccountantSettings
from services.contracts import topics
from services.deliverer.inbox import PROGRAM as DELIVERER
from services.lookout.settings import LookoutSettings
from tests.tidy.test_tidy import ROOT

CATALOGUE: Final = topics.__name__
REJECTED, HEARTBEAT, DELIVERIES = "<…>.rejected", "<stream>.heartbeat", "deliveries.<channel>"
NAMED: Final = {
    "ALERTS": topics.ALERTS,
    "HEARTBEATS": topics.HEARTBEATS,
    "DELIVERY_EVENTS": topics.DELIVERY_EVENTS,
    "NOTIFICATIONS": topics.NOTIFICATIONS,
    "ACCOUNTS": topics.ACCOUNTS,
    "deliveries": DELIVERIES,
    "heartbeat": HEARTBEAT,
    "rejected": REJECTED,
}
"""What the catalogue's names stand for in the table; any rejected topic is one."""
SOURCES: Final = {
    "gateway": "services/gateway",
    "auditor": "spark-apps/auditor",
    "archivist": "spark-apps/archivist",
    "lookout": "services/lookout",
    "deliverers": "services/deliverer",
    "accountant": "services/accountant",
    "heartbeat": "services/heartbeat",
    "console": "services/console",
    "rehearsal": "spark-apps/auditor/rehearsal",
    "helm test": "services/simulator/trial.py",
}
BY_ROUTES: Final = {"deliverers": {topics.NOTIFICATIONS}}
"""Topics that no program's code names: routes do."""
NOT_ASKED_FOR: Final = {"rehearsal": {topics.ALERTS}, "console": {DELIVERIES}}
"""Topics whose names alone a program uses: to tell its own findings apart, or to say them."""
GROUPS: Final = {
    "lookout": LookoutSettings.model_fields["lookout_group"].default,
    "deliverers": f"{DELIVERER}-<channel>",
    "accountant": AccountantSettings.model_fields["accountant_group"].default,
    "heartbeat": "heartbeat-",
    "helm test": "trial-",
}
ROW: Final = re.compile(r"^\| ([^|]+) \| ([^|]*)\| ([^|]*)\| ([^|]*)\|$", re.MULTILINE)
CODE: Final = re.compile(r"`([^`]+)`")


def table() -> dict[str, list[str]]:
    """Return the cells of the table of rights by program."""
    page = (ROOT / "docs" / "kubernetes.md").read_text("utf-8")
    section = page.partition("\n### Rights at the brokers\n")[2].partition("\n### ")[0]
    rows = [[cell.strip() for cell in row] for row in ROW.findall(section)]
    return {row[0].replace("`", "").partition(",")[0]: row for row in rows[1:]}


TABLE: Final = table()
each_program: Final = pytest.mark.parametrize("program", SOURCES)


def files(program: str) -> Iterator[Path]:
    """Yield a program's sources, without those of a program within."""
    place = ROOT / SOURCES[program]
    within = [ROOT / other for other in SOURCES.values() if place in (ROOT / other).parents]
    for file in [place] if place.is_file() else place.rglob("*.py"):
        if not any(inner in file.parents for inner in within):
            yield file


def named_by(tree: ast.AST) -> Iterator[str]:
    """Yield what a module takes of the catalogue."""
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str(module), names=names) if module == CATALOGUE:
                yield from (each.name for each in names)
            case ast.Attribute(value=ast.Name(id="topics"), attr=name):
                yield name


def kind(topic: str) -> str:
    """Return a topic of the table as the code names it."""
    return REJECTED if topic.endswith(topics.REJECTED_SUFFIX) else topic


def shown(program: str) -> set[str]:
    """Return the topics of a program's row but those of streams, which declarations name."""
    written = {kind(topic) for cell in TABLE[program][1:3] for topic in CODE.findall(cell)}
    return written - {"<stream>", "bus"}


def joins(program: str) -> bool:
    """Tell whether a program is a member of a group."""
    sources = [file.read_text("utf-8") for file in files(program)]
    return any(re.search(r"\b(?:open_consumer|Consumer)\([\w.]*settings", text) for text in sources)


def components() -> dict[str, Any]:
    """Return the chart's components that may reach the brokers."""
    values = yaml.safe_load((ROOT / "charts/aldebaran/values.yaml").read_text("utf-8"))
    found: dict[str, Any] = values["components"]
    return {name: each for name, each in found.items() if "kafka" in each.get("egressTo", ())}


@each_program
def test_a_row_has_the_topics_that_its_code_names(program: str) -> None:
    trees = [ast.parse(file.read_text("utf-8")) for file in files(program)]
    found = {NAMED[name] for tree in trees for name in named_by(tree) if name in NAMED}
    asked = found - NOT_ASKED_FOR.get(program, set())
    assert shown(program) == asked | BY_ROUTES.get(program, set())


@each_program
def test_who_joins_groups_has_them_in_its_row(program: str) -> None:
    assert CODE.findall(TABLE[program][3]) == ([GROUPS[program]] if program in GROUPS else [])
    assert joins(program) == (program in GROUPS)


@pytest.mark.parametrize("program", ["heartbeat", "helm test"])
def test_a_group_of_one_run_begins_as_the_table_says(program: str) -> None:
    texts = [file.read_text("utf-8") for file in files(program)]
    assert any(f'group = f"{GROUPS[program]}{{' in text for text in texts)


def test_whoever_may_reach_the_brokers_has_a_row() -> None:
    asking = components().keys() - {"simulator"}  # it asks the gateway
    told = {name for row in TABLE.values() for name in CODE.findall(row[0])}
    assert asking <= told
    assert TABLE.keys() == SOURCES.keys()
