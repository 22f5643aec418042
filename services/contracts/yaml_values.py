"""What a YAML text says; a value that its tag cannot hold is refused with its place."""

from typing import Any, Final

import yaml
from yaml.constructor import ConstructorError

_SHOWN_CHARACTERS: Final = 80


class _Loader(yaml.SafeLoader):
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
        yaml.YAMLError: it is no YAML, or a value is not of the kind that it says to be.
    """
    return yaml.load(text, Loader=_Loader)  # noqa: S506 - it is the safe one
