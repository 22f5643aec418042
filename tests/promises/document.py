"""What is made of each channel's PROMISE: docs/promises.md, and what docs/channels.md has of it."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from services.deliverer.wiring import channel_names, promise_of
from tests.metrics import with_made
from tests.promises.lines import LINES, ROOT, UNPROVABLE, Proof, proofs

PROMISES: Final = ROOT / "docs" / "promises.md"
WORDS: Final = {
    "recipient": "a recipient is",
    "our_id": "our id stands",
    "taken_when": "taken when",
    "not_taken": "provably not taken, so sent again",
    "permanent": "refused for good",
    "in_doubt": "in doubt",
    "evidence": "evidence that ends a doubt",
    "without_faults": "without faults",
    "after_doubt": "after a doubt without evidence",
    "not_promised": "not promised",
}
CHOSEN_BY: Final = ("recipient", "taken_when", "after_doubt", "not_promised")
"""The lines by which one chooses a channel."""


def sections() -> str:
    """Return for each channel a heading and a table: every line of its promise, and its proof."""
    known = proofs(channel_names())
    return "\n".join(
        _section(name, [each for each in known if each.channel == name]) for name in channel_names()
    )


def choice() -> str:
    """Return a table with a row for each channel: what one chooses it by."""
    words = " | ".join(WORDS[line] for line in CHOSEN_BY)
    head = [f"| channel | {words} | |", "|---" * (len(CHOSEN_BY) + 2) + "|"]
    return "\n".join([*head, *map(_choice_of, channel_names())]) + "\n"


PAGES: Final = {PROMISES: sections, ROOT / "docs" / "channels.md": choice}
"""What makes the part of each page that is made."""


def renewed(page: Path) -> str:
    """Return a page with its part made anew.

    Raises:
        ValueError: the part's place is not marked.
    """
    return with_made(page.read_text("utf-8"), f"\n{PAGES[page]()}\n")


def _choice_of(name: str) -> str:
    said = " | ".join(_said(name, line) for line in CHOSEN_BY)
    return f"| **{name}** | {said} | [all of it]({PROMISES.name}#{name}) |"


def _section(name: str, known: Sequence[Proof]) -> str:
    head = [f"## {name}", "", "| | promise | proven by |", "|---|---|---|"]
    return "\n".join([*head, *_rows(name, known)]) + "\n"


def _rows(name: str, known: Sequence[Proof]) -> Iterator[str]:
    for line in LINES:
        proven = "" if line in UNPROVABLE else _links([each for each in known if each.line == line])
        yield f"| {WORDS[line]} | {_said(name, line)} | {proven} |"


def _said(name: str, line: str) -> str:
    said: str = getattr(promise_of(name), line)
    return said.replace("|", "\\|")


def _links(known: Sequence[Proof]) -> str:
    files = dict.fromkeys(each.file for each in known)
    return ", ".join(f"[{_short(file)}](../{file})" for file in files)


def _short(file: str) -> str:
    return Path(file).stem.removeprefix("test_")
