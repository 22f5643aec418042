"""A YAML text as plain values, with the line of every value.

Scalars stay text as written, so that a telephone number or `on` never becomes something else.
"""

from dataclasses import dataclass, field
from typing import Final

import yaml

from services.contracts.yaml_values import OnceLoader

Plain = str | None | list["Plain"] | dict[str, "Plain"]
Path = tuple[str | int, ...]

TEXT_LIMIT_CHARACTERS: Final = 1024 * 1024
NODES_LIMIT: Final = 100_000
DEPTH_LIMIT: Final = 32


class Unreadable(ValueError):
    """Text that is no usable YAML: the line (from 1) and the reason."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason


@dataclass
class Document:
    """The values of one text, and where each stands."""

    value: Plain = None
    lines: dict[Path, int] = field(default_factory=dict)
    blocks: set[Path] = field(default_factory=set)
    """Texts that begin on the line below their key."""

    def line(self, path: Path) -> int:
        """Return the line (from 1) of the deepest part of the path that the text has."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def first_line(self, path: Path) -> int:
        """Return the line (from 1) on which a text begins."""
        return self.line(path) + (path in self.blocks)


def read_document(text: str) -> Document:
    """Read one YAML document.

    Raises:
        Unreadable: no YAML, several documents, a key twice, or more than the limits allow.
    """
    if len(text) > TEXT_LIMIT_CHARACTERS:
        raise Unreadable(1, f"a file has at most {TEXT_LIMIT_CHARACTERS} characters")
    try:
        root = yaml.compose(text, Loader=OnceLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise Unreadable(mark.line + 1 if mark else 1, _said(error)) from None
    except yaml.YAMLError as error:
        raise Unreadable(1, str(error).splitlines()[0]) from None
    except RecursionError:  # the parser calls itself for each level, before any can be counted
        raise Unreadable(1, f"nested over {DEPTH_LIMIT} deep") from None
    document = Document()
    if root is not None:
        document.value = _plain(root, (), document)
    return document


def _said(error: yaml.MarkedYAMLError) -> str:
    return " ".join(part for part in (error.context, error.problem) if part) or "no YAML"


def _plain(node: yaml.Node, path: Path, document: Document) -> Plain:
    lines = document.lines
    line = node.start_mark.line + 1
    # An alias may repeat or contain what it stands in; the limits end both.
    if len(lines) >= NODES_LIMIT or len(path) > DEPTH_LIMIT:
        raise Unreadable(line, f"over {NODES_LIMIT} values, or nested over {DEPTH_LIMIT} deep")
    lines.setdefault(path, line)
    if isinstance(node, yaml.MappingNode):
        return _mapping(node, path, document)
    if isinstance(node, yaml.SequenceNode):
        return [_plain(each, (*path, index), document) for index, each in enumerate(node.value)]
    if isinstance(node, yaml.ScalarNode) and node.style in ("|", ">"):
        document.blocks.add(path)
    return None if node.tag == "tag:yaml.org,2002:null" else str(node.value)


def _mapping(node: yaml.MappingNode, path: Path, document: Document) -> dict[str, Plain]:
    values: dict[str, Plain] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            raise Unreadable(line, "a key must be plain text")
        document.lines[(*path, key.value)] = line
        values[key.value] = _plain(value, (*path, key.value), document)
    return values
