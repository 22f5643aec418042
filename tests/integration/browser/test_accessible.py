"""Every page, light and dark, held against WCAG 2 AA by axe-core; and nothing on it jumps."""

import hashlib
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Page

from services.console.people.roles import Role
from tests.integration.browser.conftest import OpenTab
from tests.integration.browser.scenes import Scene
from tests.integration.console.conftest import Console

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]

AXE = Path(__file__).with_name("axe")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
VIOLATIONS = """async (rules) => (await axe.run(document, {
  runOnly: {type: "tag", values: rules}, resultTypes: ["violations"],
})).violations.map(each => `${each.id}: ${each.nodes.map(node => node.target + " "
  + node.any.map(check => check.message)).join("; ")}`)"""
WATCH_SHIFTS = """
window.shifts = [];
new PerformanceObserver(list => list.getEntries().forEach(each => window.shifts.push(
  `${each.value}: ${each.sources.map(source => source.node && (source.node.outerHTML
    || source.node.nodeName)).map(text => String(text).slice(0, 120))}`,
))).observe({type: "layout-shift", buffered: true});
"""
SETTLED = """async () => {
  await document.fonts.ready;
  for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
  return window.shifts;
}"""
"""Shifts are told of with the frame in which they happened."""


def test_the_judge_is_the_one_that_was_looked_at() -> None:
    (told,) = yaml.safe_load((AXE / "vendored.yaml").read_text())
    assert hashlib.sha256((AXE / told["file"]).read_bytes()).hexdigest() == told["sha256"]


def violations(page: Page) -> list[str]:
    page.evaluate((AXE / "axe.min.js").read_text())
    found: list[str] = page.evaluate(VIOLATIONS, RULES)
    return found


def settle(page: Page, path: str) -> None:
    """Wait until what a page loads afterwards is there."""
    if path == "/":
        page.wait_for_selector("body[data-live=yes]")
    if path.startswith("/alerts/"):
        page.wait_for_selector("text=Looking on the topics", state="detached")


@pytest.mark.parametrize(
    ("scheme", "width"),
    [("dark", 1280), ("light", 360), pytest.param("light", 1280, marks=pytest.mark.long)],
)
def test_every_page_is_accessible_and_stands_still(
    tab: OpenTab, console: Console, scene: Scene, scheme: str, width: int
) -> None:
    one = tab(viewport={"width": width, "height": 900}, color_scheme=scheme)
    one.page.add_init_script(WATCH_SHIFTS)
    one.log_in(console, "boss", Role.ADMIN)
    found: dict[str, list[str]] = {}
    for path in scene.paths:
        one.go(path)
        settle(one.page, path)
        shifts: list[str] = one.page.evaluate(SETTLED)
        told = [*(f"jumps {shift}" for shift in shifts), *violations(one.page)]
        if told:
            found[path] = told
    assert found == {}, "\n".join(f"{path}: {told}" for path, told in found.items())


def test_pages_for_those_who_have_not_logged_in_are_accessible(tab: OpenTab, scene: Scene) -> None:
    one = tab()
    one.page.add_init_script(WATCH_SHIFTS)
    for path in ("/login", "/", "/rehearsals", "/routes", "/silences", "/no-such-page"):
        one.go(path)
        assert (path, violations(one.page)) == (path, [])
    one.troubles.clear()
