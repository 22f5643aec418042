"""What was refused of a stream as JSON: when, why, where from, and the original."""

from typing import Annotated, Final

from fastapi import APIRouter, Path, Query

from services.console.api.terms import Limit, PlainText
from services.console.aside import WHOLE_LIMIT_BYTES, RefusedPage
from services.console.desk import Served
from services.console.newest_first import SHOWN_LIMIT_BYTES, Wanted, read_cursor
from services.console.people.door import Reader

REFUSED_SHOWN: Final = 20
CONTAINS_LIMIT_CHARACTERS: Final = 200
CURSOR_LIMIT_CHARACTERS: Final = 400
NAME_LIMIT_CHARACTERS: Final = 200
"""Kafka takes no topic of a longer name, with what is added to it."""

StreamName = Annotated[
    str,
    PlainText,
    Path(
        max_length=NAME_LIMIT_CHARACTERS,
        description="a stream, for example halls; or alerts, or deliveries.CHANNEL",
    ),
]
Contains = Annotated[
    str,
    PlainText,
    Query(
        max_length=CONTAINS_LIMIT_CHARACTERS,
        description="text that the original, the reason, its detail or the source has",
    ),
]

Further = Annotated[
    str | None,
    Query(
        max_length=CURSOR_LIMIT_CHARACTERS,
        description="next_cursor of the page before this one",
    ),
]
Whole = Annotated[
    bool, Query(description="originals up to 64 KiB, the longest event, and not up to 8 KiB")
]


def refused_api() -> APIRouter:
    """Return the route; it runs on a thread, since the brokers' client waits."""
    router = APIRouter(prefix="/v1/streams", tags=["streams"])

    @router.get("/{stream}/rejected", summary="What was refused of a stream, newest first")
    def newest(
        person: Reader,
        desk: Served,
        stream: StreamName,
        limit: Limit = REFUSED_SHOWN,
        contains: Contains = "",
        cursor: Further = None,
        whole: Whole = False,
    ) -> RefusedPage:
        shown_bytes = WHOLE_LIMIT_BYTES if whole else SHOWN_LIMIT_BYTES
        return desk.aside.newest(stream, Wanted(limit, contains, read_cursor(cursor)), shown_bytes)

    return router
