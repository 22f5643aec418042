"""`python -m tests.alarms`: writes docs/alarms.md from Prometheus' rules."""

import re
import sys
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from tests.metrics import ROOT, with_made

PAGE: Final = ROOT / "docs" / "alarms.md"
RULES: Final = ROOT / "charts" / "aldebaran" / "files" / "rules"
_TEMPLATE: Final = re.compile(r"\{\{ *\$(?:labels\.)?(\w+)(?: \| (\w+))? *\}\}|\b(CHANNEL)\b")
_NAMED: Final = {"value": "number", "value humanizeDuration": "time", "CHANNEL": "channel"}
"""What stands on the page for what only Prometheus or the chart knows; of a label its name."""
_DOCUMENT: Final = re.compile(r"\bdocs/([\w-]+\.md)")
_FENCED: Final = re.compile(r"^```.*?^```", re.M | re.S)
_HEADING: Final = re.compile(r"^#{1,6} (.+)$", re.M)

Rule = dict[str, Any]


def rules() -> list[Rule]:
    """Return all alerting rules, those for a part that is away last."""
    return [
        rule
        for path in sorted(RULES.rglob("*.yaml"))
        for group in yaml.safe_load(path.read_text("utf-8"))["groups"]
        for rule in group["rules"]
    ]


@cache
def titles(document: Path) -> dict[str, str]:
    """Return a page's headings by the anchors that GitHub gives them."""
    found = _HEADING.findall(_FENCED.sub("", document.read_text("utf-8")))
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-"): title for title in found}


def link(read: str) -> str:
    """Return the link, as it stands in docs, to what a rule says one should read."""
    document, _, anchor = read.removeprefix("docs/").partition("#")
    title = titles(PAGE.parent / document)[anchor]
    return f"[{document}: {title}]({document}#{anchor})"


def section(rule: Rule) -> str:
    """Return what the page says of a rule."""
    told = rule["annotations"]
    severity = rule["labels"]["severity"].capitalize()
    paragraphs = (
        f"## {rule['alert']}",
        f"**{severity}, {_held(rule)}:** {_plain(told['summary'])}",
        f"**Do:** {_plain(told['do'])}",
        f"**Read:** {link(told['read'])}",
    )
    return "\n\n".join(paragraphs) + "\n"


def _held(rule: Rule) -> str:
    """Return for how long it must be so before anybody is told."""
    written = rule.get("for")
    return f"after {written.removesuffix('m')} min" if written else "at once"


def _plain(text: str) -> str:
    """Return an annotation's text with names for what is filled in, and links to pages."""
    return _DOCUMENT.sub(r"[\1](\1)", _TEMPLATE.sub(_named, text))


def _named(found: re.Match[str]) -> str:
    name = " ".join(each for each in found.groups() if each)
    return f"*{_NAMED.get(name, name)}*"


def page(written: str) -> str:
    """Return the page with its part of the rules made anew."""
    return with_made(written, "\n" + "\n".join(map(section, rules())))


def main() -> int:
    """Write the page."""
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
