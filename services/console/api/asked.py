"""What is looked for, as it stands in an address: the same for pages, the API and exports."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Annotated, Final
from urllib.parse import urlencode

from fastapi import Depends, Query
from pydantic import TypeAdapter

from services.backbone.ledger.answers.searching import TEXT_LIMIT_CHARACTERS, Search
from services.backbone.web.problems import Problem
from services.contracts.records import Milliseconds, Severity

LABELS_LIMIT: Final = 10
NUL: Final = "\x00"
_MILLISECONDS: Final[TypeAdapter[int]] = TypeAdapter(Milliseconds)

Text = Annotated[str, Query(max_length=TEXT_LIMIT_CHARACTERS)]
Moment = Annotated[str, Query(max_length=40, description="RFC 3339; without a zone it is UTC")]


def _asked(
    q: Annotated[
        str,
        Query(
            max_length=TEXT_LIMIT_CHARACTERS,
            description="words, or their beginnings, of the summary, the key and the labels",
        ),
    ] = "",
    watch: Text = "",
    severity: Annotated[Severity | str, Query(max_length=20)] = "",
    label: Annotated[
        list[str] | None,
        Query(max_length=LABELS_LIMIT, description="NAME=VALUE, also of the key; all must fit"),
    ] = None,
    since: Moment = "",
    until: Moment = "",
    open_only: Annotated[
        bool, Query(alias="open", description="only what nobody has acknowledged")
    ] = False,
) -> Search:
    if any(NUL in each for each in (q, watch, severity, *(label or ()))):
        raise Problem(422, "bad_question", "text with NUL is nowhere")
    return Search(
        text=q,
        watch=watch,
        severity=severity,
        labels=_labels(label or ()),
        since_ms=_ms("since", since) or 0,
        until_ms=_ms("until", until),
        open_only=open_only,
    )


Asked = Annotated[Search, Depends(_asked)]
"""What is looked for, for a route's parameter."""


def _labels(given: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in (_label(each) for each in given if each.strip()):
        if name in found:
            raise Problem(422, "bad_question", f"label {name} stands twice; give it once")
        found[name] = value
    return found


def _label(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise Problem(422, "bad_question", "label: write NAME=VALUE")
    return name.strip(), value.strip()


def _ms(name: str, text: str) -> int | None:
    if not text.strip():
        return None
    try:
        at = datetime.fromisoformat(text.strip())
        at = at if at.tzinfo else at.replace(tzinfo=UTC)
        return _MILLISECONDS.validate_python(max(0, int(at.timestamp() * 1000)))
    except (ValueError, OverflowError):
        said = f"{name}: write a time like 2026-11-21T09:30:00Z"
        raise Problem(422, "bad_question", said) from None


def spelled(search: Search) -> str:
    """Return the search as it stands in an address; empty where all alerts are meant."""
    pairs: list[tuple[str, str]] = [
        ("q", search.text),
        ("watch", search.watch),
        ("severity", search.severity),
        *(("label", f"{name}={value}") for name, value in search.labels.items()),
        ("since", _time(search.since_ms)),
        ("until", _time(search.until_ms)),
        ("open", "1" if search.open_only else ""),
    ]
    return urlencode([(name, value) for name, value in pairs if value])


def _time(at_ms: int | None) -> str:
    if not at_ms:
        return ""
    at = datetime.fromtimestamp(at_ms / 1000, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
