"""The table of docs/sizing.md is no smaller than `make size` says, nor much larger."""

import re

import pytest

from tests.bench.sizing.demand import Demand
from tests.bench.sizing.figures import ROOT, read_figures
from tests.bench.sizing.needs import needs

PAGE = ROOT / "docs" / "sizing.md"
ROW = re.compile(r"^\| ([\d,]+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|", re.MULTILINE)
ROWS = [
    tuple(int(cell.replace(",", "")) for cell in row)
    for row in ROW.findall(PAGE.read_text("utf-8"))
]
LARGEST = 2.5
"""Room for the next step of the table, and for figures of another machine."""


def test_there_are_rates_from_small_to_large() -> None:
    assert len(ROWS) >= 4
    assert sorted(ROWS) == ROWS


def test_no_other_page_has_a_table_of_its_own() -> None:
    pages = [page for page in PAGE.parent.glob("*.md") if ROW.search(page.read_text("utf-8"))]
    assert pages == [PAGE]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row[0]))
def test_a_row_fits_what_sizing_says(row: tuple[int, ...]) -> None:
    rate, partitions, gateways, auditors, brokers = row
    wanted = needs(Demand(rate=rate), read_figures())
    least = {"auditors": 2.0, "gateways": 2.0}
    for said, needed in (
        (partitions, float(wanted.partitions)),
        (gateways, max(wanted.cores["gateways"], least["gateways"])),
        (auditors, max(wanted.cores["auditors"], least["auditors"])),
        (brokers, float(wanted.brokers)),
    ):
        assert needed <= said <= LARGEST * needed
