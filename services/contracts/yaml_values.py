"""What a YAML text says; refused with its place are a key that stands twice, and a value that its
tag cannot hold.
"""

from typing import Any, Final

import yaml
from yaml.constructor import ConstructorError

_SHOWN_CHARACTERS: Final = 80
_MERGE: Final = "tag:yaml.org,2002:merge"


class GivenTwice(yaml.MarkedYAMLError):
    """A key that its mapping has already; the message has its line, and shows no value."""

    def __init__(self, key: yaml.ScalarNode) -> None:
        told = f"{key.value[:_SHOWN_CHARACTERS]} is given twice"
        super().__init__(problem=told, problem_mark=key.start_mark)
        self._line = key.start_mark.line + 1

    def __str__(self) -> str:
        return f"line {self._line}: {self.problem}"


def place(error: yaml.YAMLError) -> str:
    """Return where a text is no YAML; what YAML says itself shows the line, and maybe a secret."""
    mark = getattr(error, "problem_mark", None)
    return f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""


class OnceLoader(yaml.SafeLoader):
    """Has each key once in its mapping; the safe loader takes the last one without a word."""

    def compose_mapping_node(self, anchor: dict[Any, yaml.Node]) -> yaml.MappingNode:
        """Return a mapping as it is written: what `<<` brings along its own keys may overrule.

        Raises:
            GivenTwice: it has a key twice.
        """
        node = super().compose_mapping_node(anchor)
        seen = set[str]()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag == _MERGE:
                continue
            if key.value in seen:
                raise GivenTwice(key)
            seen.add(key.value)
        return node


class _Loader(OnceLoader):
    """The safe loader lets out whatever Python raises of a text such as `!!bool maybe`."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except (ValueError, LookupError, AttributeError):
            kind = node.tag.rpartition(":")[2]
            told = f"{str(node.value)[:_SHOWN_CHARACTERS]!r} is no {kind}"
            raise ConstructorError(None, None, told, node.start_mark) from None


def read_yaml(text: str) -> Any:
    """Return what one YAML document says.

    Raises:
        GivenTwice: a key stands twice in its mapping.
        yaml.YAMLError: it is no YAML, or a value is not of the kind that it says to be.
    """
    return yaml.load(text, Loader=_Loader)  # noqa: S506 - it is the safe one
