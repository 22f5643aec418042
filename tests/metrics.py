"""`python -m tests.metrics`: writes the table of docs/metrics.md from the definitions in code."""

import ast
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
PAGE: Final = ROOT / "docs" / "metrics.md"
BEGIN: Final = "<!-- begin: made by `make docs` -->\n"
END: Final = "<!-- end -->\n"
FAMILY: Final = "MetricFamily"
"""Ends the class of a metric that is worked out when somebody asks."""
KINDS: Final = ("Counter", "Gauge", "Histogram", "Summary")
SOURCES: Final = ("services", "spark-apps")
PREFIX: Final = "aldebaran_"


@dataclass(frozen=True, order=True)
class Metric:
    """One metric as it is defined."""

    component: str
    name: str
    kind: str
    labels: tuple[str, ...]
    told: str


def metrics(root: Path = ROOT) -> list[Metric]:
    """Return every metric of the services and of Spark's applications, by component and name."""
    files = (file for source in SOURCES for file in (root / source).rglob("*.py"))
    return sorted(each for file in files for each in defined(file.read_text("utf-8"), _owner(file)))


def _owner(file: Path) -> str:
    """Return the program's name: the folder below services or spark-apps."""
    return file.relative_to(ROOT).parts[1]


def defined(source: str, component: str) -> Iterator[Metric]:
    """Return the metrics that one file defines."""
    tree = ast.parse(source)
    constants = dict(_constants(tree))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or _kind(node) not in KINDS or len(node.args) < 2:
            continue
        told = ast.literal_eval(node.args[1])
        yield Metric(component, _name(node), _kind(node).lower(), _labels(node, constants), told)


def _called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _kind(call: ast.Call) -> str:
    return _called(call).removesuffix(FAMILY)


def _name(call: ast.Call) -> str:
    """Return the name as it is shown: a counter's family adds its end by itself."""
    name = str(ast.literal_eval(call.args[0]))
    return f"{name}_total" if _called(call) == f"Counter{FAMILY}" else name


def _constants(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        value = getattr(node, "value", None)
        for target in targets:
            if isinstance(target, ast.Name) and isinstance(value, ast.expr):
                yield target.id, value


def _labels(call: ast.Call, constants: Mapping[str, ast.expr]) -> tuple[str, ...]:
    given = [each.value for each in call.keywords if each.arg in ("labelnames", "labels")]
    found = [*call.args[2:3], *given]
    if not found:
        return ()
    value = constants[found[0].id] if isinstance(found[0], ast.Name) else found[0]
    return tuple(ast.literal_eval(value))


def table(found: list[Metric]) -> str:
    """Return the table: a row for each metric, under a line for each component."""
    rows = []
    for component, own in groupby(found, key=lambda each: each.component):
        rows.append(f"| **{component}** | | | |")
        for each in own:
            labels = ", ".join(f"`{label}`" for label in each.labels)
            told = each.told.rstrip(".").replace("|", "\\|")
            rows.append(f"| `{each.name}` | {each.kind} | {labels} | {told} |")
    return "\n".join(["| metric | kind | labels | |", "|---|---|---|---|", *rows]) + "\n"


def with_made(page: str, made: str) -> str:
    """Return a page with what is made of the code put between its marks."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page needs the lines {BEGIN.strip()} and {END.strip()}")
    return before + begin + made + end + after


def with_table(page: str, found: list[Metric]) -> str:
    """Return the page with its table made anew."""
    return with_made(page, table(found))


def main() -> int:
    """Write the page."""
    PAGE.write_text(with_table(PAGE.read_text("utf-8"), metrics()), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
