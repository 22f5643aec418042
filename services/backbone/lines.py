"""Lines for people: what others wrote stays on its line, and moves nobody's terminal."""

from typing import TextIO


def tell(out: TextIO, line: str) -> None:
    """Write one line for people, whatever is in it."""
    out.write(f"{harmless(line)}\n")


def tell_text(out: TextIO, text: str) -> None:
    """Write a text that may have several lines, as an error's."""
    for line in text.split("\n"):
        tell(out, line)


def harmless(text: str) -> str:
    """Return text on one line, with what would move a terminal's cursor written out."""
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode() for each in text
    )
