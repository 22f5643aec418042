"""`python -m tests.bench.reading`: waits of people in front of the console; a table on stdout."""

import argparse
import hashlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from playwright.sync_api import Page
from pydantic import SecretStr

from services.backbone.ledger.database import open_pool
from services.backbone.ledger.schema import migrate
from services.backbone.settings import LedgerSettings
from tests.bench import facts
from tests.bench.reading.crowd import fill
from tests.bench.reading.rows import INTERACTION_MS, PAINT_MS, Row, document
from tests.integration.browser.conftest import chromium
from tests.integration.console.conftest import running
from tests.pictures.__main__ import ledger

REPORT: Final = Path(__file__).parents[3] / "docs" / "reports" / "reading.md"
PAINT = """() => new Promise(done => {
  const painted = () => performance.getEntriesByName("first-contentful-paint")[0];
  const look = () => painted() ? done(painted().startTime) : setTimeout(look, 5);
  look();
})"""
FIRST_BYTE = "() => performance.getEntriesByType('navigation')[0].responseStart"
SWAP = """(text) => new Promise(done => {
  const box = document.getElementById("search"), begun = performance.now();
  document.addEventListener("htmx:after:swap", () => requestAnimationFrame(
    () => setTimeout(() => done(performance.now() - begun))), {once: true});
  box.value = text;
  box.form.requestSubmit();
})"""
"""From the press of Enter to the next frame with the answer in it."""


def measure(page: Page, url: str, alerts: int, times: int) -> list[Row]:
    """Measure every page and search."""
    middle = alerts // 2
    paths = {
        "now": "/",
        "alerts": "/alerts",
        "a rare word, old": f"/alerts?q=R-{alerts - 3}",
        "a label of one in 1000": "/alerts?label=client%3DFund+77",
        "a word of all": "/alerts?q=acme",
        "watch and severity": "/alerts?watch=watch-3&severity=critical",
        "a time in the middle": f"/alerts?until={_at(page, middle)}",
        "to do": "/todo",
        "dead letters": "/todo?state=FAILED",
        "one alert": f"/alerts/{hashlib.md5(str(middle).encode()).hexdigest()}",  # noqa: S324 - as the crowd's ids are made
        "a watch": "/watches/over-purchase",
    }
    page.goto(f"{url}/silences")
    rows = []
    for what, path in paths.items():
        paints, bytes_ = [], []
        for _ in range(times):
            page.goto(url + path)
            paints.append(page.evaluate(PAINT))
            bytes_.append(page.evaluate(FIRST_BYTE))
        rows += [
            Row(f"{what}: first byte", bytes_),
            Row(f"{what}: first paint", paints, PAINT_MS),
        ]
    return [*rows, *_searches(page, url, times)]


def _searches(page: Page, url: str, times: int) -> list[Row]:
    page.goto(f"{url}/alerts")
    words: dict[str, Callable[[int], str]] = {
        "search, a word of all": lambda n: "acme bought",
        "search, one book": lambda n: f"R-{1000 + n * 37}",
        "search, nothing fits": lambda n: f"nothing{n}",
        "search, two words of many that never meet": lambda n: "acme fund 1 s2",
    }
    return [
        Row(what, [page.evaluate(SWAP, word(number)) for number in range(times)], INTERACTION_MS)
        for what, word in words.items()
    ]


def _at(page: Page, seconds_ago: int) -> str:
    script = "(ago) => new Date(Date.now() - ago * 500).toISOString()"
    return str(page.evaluate(script, seconds_ago))


def main() -> int:
    """Fill, measure, and show the table; 1 where a promise is not kept."""
    parser = argparse.ArgumentParser("python -m tests.bench.reading", description=__doc__)
    parser.add_argument("--alerts", type=int, default=1_000_000)
    parser.add_argument("--times", type=int, default=40)
    parser.add_argument("--write", action="store_true", help=f"write {REPORT.name} too")
    told = parser.parse_args()
    before = facts.now()
    with ledger() as url:
        settings = LedgerSettings(postgres_url=SecretStr(url))
        migrate(settings)
        fill(url, told.alerts)
        with open_pool(settings) as pool, running(pool, url) as console, chromium() as browser:
            page = browser.new_page()
            rows = measure(page, console.url, told.alerts, told.times)
    moments = (before, facts.now())
    text = document(rows, told.alerts, told.times, facts.machine(), moments)
    sys.stdout.write(text)
    if told.write:
        REPORT.write_text(text)
    return 0 if all(row.kept is not False for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
