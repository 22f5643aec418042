"""The sentence of a watch: text with columns' names in braces."""

import re
import string
from typing import Final

_COLUMN: Final = re.compile(r"[a-z][a-z0-9_]{0,62}")
_OF_TEMPLATES: Final = re.compile(r"(?<!\{)\{\{\s*[A-Za-z_]\w*\s*([.|\[][^{}]*)?\}\}(?!\})")
"""A value as a template of messages names it, which a summary would show as it is written."""
_NAME_ONLY: Final = "write {column} with a column's name only"


def template_parts(template: str) -> list[tuple[str, str | None]]:
    """Split a summary such as `{host} is full` into (text before, column) pairs.

    Raises:
        ValueError: a brace is not closed, or more than a column's name stands between braces.
    """
    parts: list[tuple[str, str | None]] = []
    for text, column, form, conversion in string.Formatter().parse(template):
        if form or conversion:
            shown = "".join([f"!{conversion}" if conversion else "", f":{form}" if form else ""])
            raise ValueError(f"{_NAME_ONLY}, not {{{column}{shown}}}: round it in the SQL")
        if column is not None and not _COLUMN.fullmatch(column):
            raise ValueError(f"{_NAME_ONLY}, not {{{column}}}")
        parts.append((text, column))
    return parts


def check_braces(template: str) -> None:
    """Refuse what people would read with braces, and nobody fills in.

    Raises:
        ValueError: with how it is to be written.
    """
    if found := _OF_TEMPLATES.search(template):
        raise ValueError(f"write {{column}} with single braces, not {found[0]}")
