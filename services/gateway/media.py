"""What the headers of a request say about its body."""

from enum import Enum
from typing import Final

from services.backbone.web.problems import Problem


class Form(Enum):
    """How events stand in a body."""

    LINES = "one JSON object per line"
    LOOK = "a JSON object, a JSON array, or lines: the body shows it"


class Encoding(Enum):
    """How a body is compressed."""

    IDENTITY = "identity"
    GZIP = "gzip"
    ZSTD = "zstd"


ACCEPTED_TYPES: Final = "application/json, application/x-ndjson"
ACCEPTED_ENCODINGS: Final = "gzip, zstd, identity"

_LINES: Final = frozenset(
    f"application/{name}"
    for name in ("x-ndjson", "ndjson", "jsonl", "x-jsonl", "jsonlines", "x-jsonlines")
)
_LOOK: Final = frozenset(
    {
        "",  # a sender that names no type means JSON
        "application/json",
        "text/json",
        "text/plain",
        "application/octet-stream",
        "application/x-www-form-urlencoded",  # what `curl --data` says about any text
    }
)
_CHARSETS: Final = frozenset({"utf-8", "utf8", "us-ascii", "ascii"})
_ENCODINGS: Final = {
    "": Encoding.IDENTITY,
    "identity": Encoding.IDENTITY,
    "gzip": Encoding.GZIP,
    "x-gzip": Encoding.GZIP,
    "zstd": Encoding.ZSTD,
}


def form_of(content_type: str) -> Form:
    """Read a Content-Type.

    Raises:
        Problem: 415, with the types that are taken.
    """
    name, _, parameters = content_type.partition(";")
    kind = name.strip().lower()
    if _charset(parameters) in _CHARSETS and kind in _LINES | _LOOK:
        return Form.LINES if kind in _LINES else Form.LOOK
    detail = f"send {ACCEPTED_TYPES} in UTF-8, not {content_type[:100]}"
    raise Problem(415, "content_type", detail, {"Accept-Post": ACCEPTED_TYPES})


def encoding_of(content_encoding: str) -> Encoding:
    """Read a Content-Encoding.

    Raises:
        Problem: 415, with the encodings that are taken.
    """
    encoding = _ENCODINGS.get(content_encoding.strip().lower())
    if encoding is None:
        detail = f"send one of {ACCEPTED_ENCODINGS}, not {content_encoding[:100]}"
        raise Problem(415, "content_encoding", detail, {"Accept-Encoding": ACCEPTED_ENCODINGS})
    return encoding


def _charset(parameters: str) -> str:
    for parameter in parameters.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            return value.strip().strip('"').lower()
    return "utf-8"
