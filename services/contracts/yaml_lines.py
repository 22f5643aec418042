"""Where in a YAML text a value stands, so that an error can name its line."""

from collections.abc import Sequence

import yaml


def line_of(text: str, location: Sequence[str | int]) -> int:
    """Return the line (from 1) of the deepest part of `location` that the text has."""
    node: yaml.Node | None = yaml.compose(text, Loader=yaml.SafeLoader)
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
