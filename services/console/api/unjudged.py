"""What no watch judged, as JSON: which account lists it, why, its key and its values."""

from typing import Annotated, Final

from fastapi import APIRouter, Query

from services.console.api.refused import CONTAINS_LIMIT_CHARACTERS, Further
from services.console.api.terms import Limit, PlainText
from services.console.desk import Served
from services.console.newest_first import Wanted, read_cursor
from services.console.people.door import Reader
from services.console.unjudged import UnjudgedPage

UNJUDGED_SHOWN: Final = 20

Contains = Annotated[
    str,
    PlainText,
    Query(
        max_length=CONTAINS_LIMIT_CHARACTERS,
        description="text that the account, the reason, the key or a value has",
    ),
]


def unjudged_api() -> APIRouter:
    """Return the route; it runs on a thread, since the brokers' client waits."""
    router = APIRouter(prefix="/v1", tags=["streams"])

    @router.get("/unjudged", summary="What no watch judged, as accounts list it, newest first")
    def newest(
        person: Reader,
        desk: Served,
        limit: Limit = UNJUDGED_SHOWN,
        contains: Contains = "",
        cursor: Further = None,
    ) -> UnjudgedPage:
        return desk.unjudged.newest(Wanted(limit, contains, read_cursor(cursor)))

    return router
