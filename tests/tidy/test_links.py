"""Every relative link in a document leads to a file, and its anchor to a heading there."""

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.alarms import titles
from tests.tidy.test_tidy import ROOT, tracked

CODE = re.compile(r"^ *```.*?^ *```|`[^`\n]+`", re.M | re.S)
LINK = re.compile(r"\]\(([^()\s]+)\)")
ELSEWHERE = re.compile(r"[a-z]+:")


def broken(document: Path) -> list[str]:
    """Return those of a document's relative links that lead nowhere."""
    targets = LINK.findall(CODE.sub("", document.read_text("utf-8")))
    return [to for to in targets if not ELSEWHERE.match(to) and not leads(document, to)]


def leads(document: Path, to: str) -> bool:
    """Return whether a link leads to a file or folder and, with an anchor, to a heading of it."""
    path, _, anchor = unquote(to).partition("#")
    target = (document.parent / path).resolve() if path else document
    return target.exists() and (not anchor or (target.suffix == ".md" and anchor in titles(target)))


@pytest.mark.parametrize("name", tracked(".md"))
def test_relative_links_lead_somewhere(name: str) -> None:
    assert not (lost := broken(ROOT / name)), f"{name} links to no file or heading: {lost}"


@pytest.mark.parametrize(
    ("link", "found"),
    [
        ("other.md", True),
        ("other.md#the-way-of-a-µs", True),
        ("other.md#the-way-of-a-%C2%B5s", True),
        ("#own", True),
        (".", True),
        ("https://example.com/gone.md#nowhere", True),
        ("gone.md", False),
        ("other.md#gone", False),
        ("other.md#no-heading", False),
        ("#gone", False),
        ("other.txt#own", False),
    ],
)
def test_a_link_that_leads_nowhere_is_seen(link: str, found: bool, tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# `The way`: of a µs\n```\n# no heading\n```\n", "utf-8")
    (tmp_path / "other.txt").write_text("# own\n")
    (page := tmp_path / "page.md").write_text(f"# Own\nSee [`it`]({link}).\n")
    assert broken(page) == ([] if found else [link])


def test_what_is_code_is_no_link(tmp_path: Path) -> None:
    (page := tmp_path / "page.md").write_text("`[a](gone.md)`\n\n  ```\n  [b](gone.md)\n  ```\n")
    assert broken(page) == []
