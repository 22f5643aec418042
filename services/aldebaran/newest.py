"""The newest records of a topic that the console looks up, asked for page after page."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from services.aldebaran.client import all_pages
from services.aldebaran.remarks import Remarks
from services.backbone.web.client import ApiClient

PAGE_ROWS: Final = 200
"""The console tells no more at once."""


@dataclass
class Told:
    """What the console has told so far."""

    count: int = 0
    looked: int = 0
    whole: bool = False

    def remark(self, remarks: Remarks, nothing: str) -> None:
        """Say that there may be more, or `nothing` where there is none."""
        if not self.whole:
            remarks.say(f"there may be older ones: {self.looked} records were looked through")
        elif not self.count:
            remarks.say(nothing)


def newest(
    client: ApiClient, path: str, query: Mapping[str, Any], limit: int, told: Told
) -> Iterator[list[dict[str, Any]]]:
    """Yield what each page adds to what was told, until that is as many as are wanted.

    Raises:
        Trouble: the console does not do it, or does not answer.
    """
    for page in all_pages(client, path, {**query, "limit": min(limit, PAGE_ROWS)}):
        left = limit - told.count
        new = page["rows"][:left]
        told.count += len(new)
        told.looked += page["looked"]["records"]
        told.whole = page["looked"]["whole"] and len(page["rows"]) <= left
        yield new
        if len(new) == left:
            return
