"""Where in a YAML text a value stands, and how large a text grows when it is read."""

from collections.abc import Iterable, Sequence
from typing import Final

import yaml

DEPTH_MAX: Final = 64
ALIASES_MAX: Final = 16
"""Aliases of aliases grow without end: a short text can stand for more than any memory holds."""


def check_growth(text: str) -> None:
    """Refuse a text that would become too large or too deep when it is read.

    Raises:
        ValueError: with what to change.
        yaml.YAMLError: it is no YAML.
    """
    depth = aliases = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        aliases += isinstance(event, yaml.AliasEvent)
        line = event.start_mark.line + 1 if event.start_mark else 0
        if depth > DEPTH_MAX:
            raise ValueError(f"line {line}: nested over {DEPTH_MAX} deep")
        if aliases > ALIASES_MAX:
            raise ValueError(f"line {line}: over {ALIASES_MAX} aliases; write the values out")


def lines_of(text: str, locations: Iterable[Sequence[str | int]]) -> list[int]:
    """Return the lines (from 1) of the deepest part of each location that the text has, in order,
    each once.
    """
    root: yaml.Node | None = yaml.compose(text, Loader=yaml.SafeLoader)
    return sorted({_line_of(root, each) for each in locations})


def _line_of(node: yaml.Node | None, location: Sequence[str | int]) -> int:
    line = 1
    for part in location:
        found = _child(node, part)
        if found is None:
            break
        line, node = found
    return line


def _child(node: yaml.Node | None, part: str | int) -> tuple[int, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == str(part):
                return key.start_mark.line + 1, value
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return node.value[part].start_mark.line + 1, node.value[part]
    return None
