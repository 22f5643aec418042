"""From a silence as the ledger keeps it to one that can be asked, and whom it would catch."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

from services.backbone.errors import Refused
from services.backbone.ledger.operators.silences import SilenceRow
from services.backbone.log import logger
from services.contracts.records import Alert, describe
from services.lookout.matching import Match
from services.lookout.routes.match_part import MatchPart
from services.lookout.standing import Silence, found_at
from services.lookout.week_times import WeekTimes

EXAMPLES_LIMIT: Final = 20
"""Most alerts that a preview names."""
NOTED_LIMIT: Final = 5
"""Most silences that a note names."""

log = logger(__name__)


@dataclass(frozen=True, slots=True)
class Preview:
    """What a silence would have caught of the newest alerts: how many, and some of them."""

    looked_at: int
    caught: int
    examples: tuple[Alert, ...]


def read_match(told: Mapping[str, Any], times: Mapping[str, WeekTimes]) -> Match:
    """Read conditions as they stand in a route's `match`.

    Raises:
        Refused: they cannot be used; the message says where and why.
    """
    try:
        return MatchPart.model_validate(told).match(times)
    except ValidationError as error:
        raise Refused(f"match: {describe(error)}") from None
    except KeyError as error:
        raise Refused(f"match: the routes name no times {error.args[0]!r}") from None


class Unreadable:
    """The silences that stand and hold nothing, since the routes have not what they name."""

    def __init__(self) -> None:
        self._told: Mapping[str, str] = {}

    def heed(self, told: Mapping[str, str]) -> None:
        """Take over what is said of each by its id; what is news is logged."""
        before, self._told = self._told, told
        for silence_id, said in told.items():
            if before.get(silence_id) != said:
                log.error("silence_unreadable", silence_id=silence_id, reason=said)

    def note(self) -> str | None:
        """Say for the health page which they are; None if there are none."""
        said = list(self._told.values())
        more = [f"and {len(said) - NOTED_LIMIT} more"] if len(said) > NOTED_LIMIT else []
        return "; ".join(said[:NOTED_LIMIT] + more) or None


def read_silences(
    rows: Iterable[SilenceRow], times: Mapping[str, WeekTimes], unreadable: Unreadable
) -> tuple[Silence, ...]:
    """Return the silences that can be read; others hold nothing, and `unreadable` tells it."""
    silences, failed = [], {}
    for row in rows:
        try:
            match = read_match(row.match, times)
        except Refused as error:
            failed[row.silence_id] = (
                f"silence {row.silence_id} of {row.author} holds nothing: {error}"
            )
            continue
        told = (row.starts_at, row.ends_at, row.author, row.reason)
        silences.append(Silence(row.silence_id, match, *told))
    unreadable.heed(failed)
    return tuple(silences)


def preview(match: Match, newest: Iterable[str]) -> Preview:
    """Tell which of some alerts (their JSON, newest first) a silence would have caught.

    Times that the conditions name are held against when each alert was found.
    """
    alerts = [Alert.decode(each.encode()) for each in newest]
    caught = [alert for alert in alerts if match.fits(alert, found_at(alert))]
    return Preview(len(alerts), len(caught), tuple(caught[:EXAMPLES_LIMIT]))
