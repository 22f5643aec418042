"""From a silence as the ledger keeps it to one that can be asked, and whom it would catch."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from pydantic import ValidationError

from services.backbone.errors import Refused
from services.backbone.ledger.silences import SilenceRow
from services.backbone.log import logger
from services.contracts.records import Alert, describe
from services.lookout.matching import Match
from services.lookout.routes.match_part import MatchPart
from services.lookout.standing import Silence
from services.lookout.week_times import WeekTimes

EXAMPLES_LIMIT: Final = 20
"""Most alerts that a preview names."""

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


def read_silences(
    rows: Iterable[SilenceRow], times: Mapping[str, WeekTimes]
) -> tuple[Silence, ...]:
    """Return the silences that can be read; others silence nothing, and that is logged."""
    silences = []
    for row in rows:
        try:
            match = read_match(row.match, times)
        except Refused as error:
            log.error("silence_unreadable", silence_id=row.silence_id, reason=str(error))
            continue
        told = (row.starts_at, row.ends_at, row.author, row.reason)
        silences.append(Silence(row.silence_id, match, *told))
    return tuple(silences)


def preview(match: Match, newest: Iterable[str], at: datetime) -> Preview:
    """Tell which of some alerts (their JSON, newest first) a silence would catch."""
    alerts = [Alert.decode(each.encode()) for each in newest]
    caught = [alert for alert in alerts if match.fits(alert, at)]
    return Preview(len(alerts), len(caught), tuple(caught[:EXAMPLES_LIMIT]))
