"""What is skipped for lack of a program on this machine; with ALL_PEERS=1 it fails instead.

A reason to skip that ends with `apt-get install` and packages is such a lack, and so is one that
asks for `make chart-tools`.
"""

import os
import re
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Set
from typing import Any, Final

import pytest

ALL_PEERS: Final = "ALL_PEERS"
_INSTALL: Final = "apt-get install "
_CHART_TOOLS: Final = "make chart-tools"
_SKIPPED: Final = re.compile(r"SKIPPED \[(\d+)\] .+?\.py(?::\d+)?: (.+)")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, Any, Any]:
    """Let a test fail whose far end is not installed, where all far ends are asked for."""
    report: pytest.TestReport = yield
    told = report.longrepr
    why = told[2] if report.skipped and isinstance(told, tuple) else ""
    lacks = _INSTALL in why or _CHART_TOOLS in why
    if lacks and os.environ.get(ALL_PEERS) == "1":
        report.outcome = "failed"
        report.longrepr = f"{why} ({ALL_PEERS}=1 allows no skip)"
    return report


def skipped(output: str) -> Counter[str]:
    """Return how many tests pytest says it has skipped, by the reason."""
    found: Counter[str] = Counter()
    for match in map(_SKIPPED.fullmatch, output.splitlines()):
        if match is not None:
            found[match[2].removeprefix("Skipped: ")] += int(match[1])
    return found


def told_of(outputs: Mapping[str, str]) -> Iterator[str]:
    """Say what was skipped in which parts, and the command that installs all that is lacking."""
    by_part = {part: skipped(output) for part, output in outputs.items()}
    for reason in sorted({each for found in by_part.values() for each in found}):
        parts = {part: found[reason] for part, found in by_part.items() if reason in found}
        yield f"skipped: {sum(parts.values())} in {', '.join(sorted(parts))}: {reason}"
    if commands := list(_commands({each for found in by_part.values() for each in found})):
        yield f"to run these too: {'; '.join(commands)}; {ALL_PEERS}=1 allows no skip"


def _commands(reasons: Set[str]) -> Iterator[str]:
    packages = {each for reason in reasons for each in reason.partition(_INSTALL)[2].split()}
    if packages:
        yield f"sudo {_INSTALL}{' '.join(sorted(packages))}"
    if any(_CHART_TOOLS in reason for reason in reasons):
        yield _CHART_TOOLS
