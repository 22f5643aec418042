"""Why an alert was sent, or was not: everything recorded about it, read as of one moment."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from psycopg.rows import dict_row

from services.backbone.errors import Refused
from services.backbone.ledger.answers import why_sql as answers_sql
from services.backbone.ledger.answers.sentences import Alone, Stop, Told, absent, sentence
from services.backbone.ledger.database import Connection, Pool, snapshot
from services.backbone.ledger.deliveries.breakers import LAPSES_SECONDS

ROWS_LIMIT: Final = 2000
"""Most deliveries, and most happenings, that one answer holds."""
PREFIX_LENGTH: Final = 8
"""Least characters of an id that are enough to look for it."""

Cut = Literal["recipients", "happened"]
"""A list of an answer, `happened` those of its recipients too."""

_Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Happening:
    """One thing that happened, to one delivery or (None) to the alert; times in ms UTC."""

    at_ms: int
    delivery_id: str | None
    what: str
    detail: str


@dataclass(frozen=True, slots=True)
class Recipient:
    """One delivery: how it stands, in one sentence, and everything that led to it."""

    delivery_id: str
    channel: str
    recipient: str
    repetition: int
    route: str
    state: str
    sentence: str
    happened: tuple[Happening, ...]


@dataclass(frozen=True, slots=True)
class Route:
    """One route that was asked at intake, how deep in the tree, and why it fitted or not."""

    name: str
    fits: bool
    why: str
    depth: int


@dataclass(frozen=True, slots=True)
class Repeat:
    """Copies of the alert by one auditor that were dropped; noted within a second or so."""

    auditor: str
    copies: int
    first_at_ms: int
    last_at_ms: int


@dataclass(frozen=True, slots=True)
class Answer:
    """All about one alert; `routes_version` names the routes that it was judged under.

    Lists hold the first; those of which there is more are in `cut`.
    """

    alert_id: str
    watch: str
    severity: str
    summary: str
    detected_at_ms: int
    accepted_at_ms: int
    acknowledged_at_ms: int | None
    routed_by: str
    routes_version: str
    considered: tuple[Route, ...]
    recipients: tuple[Recipient, ...]
    happened: tuple[Happening, ...]
    repeats: tuple[Repeat, ...] = ()
    cut: tuple[Cut, ...] = ()


class Answers:
    """Answers from the ledger; safe to use from several threads."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def why(self, alert_id: str) -> Answer | None:
        """Return all about an alert; the first characters of its id are enough. None: not there.

        Raises:
            Refused: it is no id, or several alerts begin with it.
            Transient: Postgres is away.
        """
        begin = _checked(alert_id)
        with snapshot(self._pool) as connection:
            found = _ask(connection, answers_sql.BEGINS, begin)
            if not found:
                return None
            if len(found) > 1:
                raise Refused(f"several alerts begin with {begin}: give more of the id")
            return _answer(connection, found[0]["alert_id"])

    def absent(self, alert_id: str) -> str:
        """Say of an alert that the ledger does not have whether it is known to be set aside.

        Raises:
            Refused: it is no id.
            Transient: Postgres is away.
        """
        begin = _checked(alert_id)
        with snapshot(self._pool) as connection:
            found = _ask(connection, answers_sql.SET_ASIDE, begin)
        return absent(found[0]["key"], found[0]["at_ms"]) if found else absent(begin, None)


def _checked(alert_id: str) -> str:
    text = alert_id.strip().lower()
    if not PREFIX_LENGTH <= len(text) <= 32 or set(text) - set("0123456789abcdef"):
        raise Refused(f"{alert_id!r} is no alert's id: 32 characters 0-9 a-f, or the first 8")
    return text


def _answer(connection: Connection, alert_id: str) -> Answer:
    alert = _ask(connection, answers_sql.ALERT, alert_id)[0]
    deliveries, more_deliveries = _first(connection, answers_sql.DELIVERIES, alert_id)
    alone = {
        row.pop("delivery_id"): Alone(**row)
        for row in _ask(connection, answers_sql.LEFT_ALONE, alert_id)
    }
    carriers = {row["delivery_id"]: row for row in _ask(connection, answers_sql.CARRIERS, alert_id)}
    moments, more_moments = _first(connection, answers_sql.HAPPENED, alert_id)
    happened = [Happening(**row) for row in moments]
    more: dict[Cut, bool] = {"recipients": more_deliveries, "happened": more_moments}
    decision = alert.pop("decision")
    judged = {each["delivery_id"]: each for each in decision.get("told", ())}
    return Answer(
        **alert,
        routes_version=decision.get("routes_version", ""),
        considered=tuple(Route(*each) for each in decision.get("considered", ())),
        recipients=tuple(
            _recipient(row, alert, judged.get(row["delivery_id"]), carriers, alone, happened)
            for row in deliveries
        ),
        happened=tuple(each for each in happened if each.delivery_id is None),
        repeats=tuple(Repeat(**row) for row in _ask(connection, answers_sql.REPEATS, alert_id)),
        cut=tuple(name for name, is_cut in more.items() if is_cut),
    )


def _recipient(
    row: _Row,
    alert: _Row,
    judged: Mapping[str, Any] | None,
    carriers: Mapping[str, _Row],
    alone: Mapping[str, Alone],
    happened: list[Happening],
) -> Recipient:
    own = [each for each in happened if each.delivery_id == row["delivery_id"]]
    at_ms = alert["accepted_at_ms"] if judged else row["created_at_ms"]
    recorded = Happening(at_ms, row["delivery_id"], *_judged(judged))
    carrier = carriers.get(row["digest_id"] or "")
    return Recipient(
        delivery_id=row["delivery_id"],
        channel=row["channel"],
        recipient=row["recipient"],
        repetition=row["repetition"],
        route=row["plan"].get("route", ""),
        state=row["state"],
        sentence=sentence(_told(row, alone), _told(carrier, alone) if carrier else None),
        happened=(recorded, *own),
    )


def _judged(judged: Mapping[str, Any] | None) -> tuple[str, str]:
    if judged is None:
        return "recorded", "made after the alert came in"
    what = "judged: wait" if "until" in judged else "judged: send"
    until = f", until {judged['until']}" if "until" in judged else ""
    return what, f"{judged['why']}{until}"


def _told(row: _Row, alone: Mapping[str, Alone]) -> Told:
    return Told(
        state=row["state"],
        attempt=row["attempt"],
        marked_repeat=row["marked_repeat"],
        reason=row["reason"],
        updated_at_ms=row["updated_at_ms"],
        next_attempt_at_ms=row.get("next_attempt_at_ms", 0),
        in_digest=row.get("digest_id") is not None,
        stop=_stop(row),
        alone=alone.get(row["delivery_id"]),
    )


def _stop(row: _Row) -> Stop | None:
    if row["stopped_by"] is None:
        return None
    return Stop(row["channel"], row["stopped_by"], row["stopped_why"], row["stopped_at_ms"])


def _first(connection: Connection, question: str, alert_id: str) -> tuple[list[_Row], bool]:
    """Return the first rows, and whether there are more."""
    rows = _ask(connection, question, alert_id)
    return rows[:ROWS_LIMIT], len(rows) > ROWS_LIMIT


def _ask(connection: Connection, question: str, alert_id: str) -> list[_Row]:
    with connection.cursor(row_factory=dict_row) as cursor:
        terms = {"id": alert_id, "limit": ROWS_LIMIT + 1, "lapses": LAPSES_SECONDS}
        return cursor.execute(question.encode(), terms).fetchall()
