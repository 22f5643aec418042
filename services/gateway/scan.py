"""Finds the exact bytes of elements of a JSON array."""

import re
from collections.abc import Iterator
from typing import Final

_STRING: Final = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_FLAT: Final = rb'\{[^{}\[\]"]*+(?:' + _STRING + rb'[^{}\[\]"]*+)*+\}'
_TOKEN: Final = re.compile(_FLAT + rb"|" + _STRING + rb"|[\[\]{},]", re.DOTALL)
_SPACE: Final = b" \t\r\n"


def elements(array: bytes) -> Iterator[bytes]:
    """Yield the elements of a valid JSON array as they are written, without space around them.

    One token is a whole flat object, a string, a bracket or a comma, so the usual event costs
    two steps; the possessive pattern never goes back.
    """
    start = array.index(b"[") + 1
    depth = 0
    for token in _TOKEN.finditer(array, start):
        text = token.group()
        if text in (b"[", b"{"):
            depth += 1
        elif depth and text in (b"]", b"}"):
            depth -= 1
        elif not depth and text in (b",", b"]"):
            if element := array[start : token.start()].strip(_SPACE):
                yield element
            start = token.end()
