"""The guarantee table in docs/channels.md: what each channel promises, and what proves it."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from services.deliverer.wiring import channel_names, promise_of
from tests.promises.lines import LINES, ROOT, UNPROVABLE, Proof, proofs

DOCUMENT: Final = ROOT / "docs/channels.md"
BEGIN: Final = "<!-- What follows is made by `make docs`; change the channel's PROMISE instead. -->"
END: Final = "<!-- Here ends what `make docs` makes. -->"
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


def table() -> str:
    """Return the whole table."""
    names = channel_names()
    known = proofs(names)
    rows = ["| channel | line | promise | proven by |", "|---|---|---|---|"]
    for name in names:
        rows += _rows(name, [each for each in known if each.channel == name])
    return "\n".join(rows)


def renewed(text: str) -> str:
    """Return the document with the table as it must be.

    Raises:
        ValueError: the table's place is not marked.
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{DOCUMENT.name} must have the lines {BEGIN!r} and {END!r}")
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}"


def _rows(name: str, known: Sequence[Proof]) -> Iterator[str]:
    promise = promise_of(name)
    for line in LINES:
        first = f"**{name}**" if line == LINES[0] else ""
        said = getattr(promise, line).replace("|", "\\|")
        proven = "" if line in UNPROVABLE else _links([each for each in known if each.line == line])
        yield f"| {first} | {WORDS[line]} | {said} | {proven} |"


def _links(known: Sequence[Proof]) -> str:
    files = dict.fromkeys(each.file for each in known)
    return ", ".join(f"[{_short(file)}](../{file})" for file in files)


def _short(file: str) -> str:
    return Path(file).stem.removeprefix("test_")
