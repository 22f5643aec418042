"""What is skipped for lack of a program on this machine; with ALL_PEERS=1 it fails instead.

A reason to skip that ends with `apt-get install` and packages is such a lack.
"""

import os
import re
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping
from typing import Any, Final

import pytest

ALL_PEERS: Final = "ALL_PEERS"
_INSTALL: Final = "apt-get install "
_SKIPPED: Final = re.compile(r"SKIPPED \[(\d+)\] .+?\.py(?::\d+)?: (.+)")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, Any, Any]:
    """Let a test fail whose far end is not installed, where all far ends are asked for."""
    report: pytest.TestReport = yield
    told = report.longrepr
    lacks = report.skipped and isinstance(told, tuple) and _INSTALL in told[2]
    if lacks and os.environ.get(ALL_PEERS) == "1":
        assert isinstance(told, tuple)
        report.outcome = "failed"
        report.longrepr = f"{told[2]} ({ALL_PEERS}=1 allows no skip)"
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
    packages = sorted({each for found in by_part.values() for each in _packages(found)})
    if packages:
        yield f"to run these too: sudo {_INSTALL}{' '.join(packages)}; {ALL_PEERS}=1 allows no skip"


def _packages(reasons: Iterable[str]) -> Iterator[str]:
    for reason in reasons:
        yield from reason.partition(_INSTALL)[2].split()
