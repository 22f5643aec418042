"""Looking for alerts by words, watch, severity, labels, time and whether they are open, newest
first, page by page.

What many alerts have is found by walking from the newest; what few have, by the index of words.
So both take about the same time, however many alerts there are.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, LiteralString

from services.backbone.ledger.answers import reading_sql
from services.backbone.ledger.page_start import PageStart
from services.contracts.records import Severity

WALK_LIMIT: Final = 4000
"""Alerts that are looked at one by one, from the newest on, before the index of words is asked."""
TEXT_LIMIT_CHARACTERS: Final = 200
"""Most characters to look for: Postgres refuses a word of more than 2,046 bytes."""
NAME_LIMIT_CHARACTERS: Final = 200
"""Of a value under its name so many characters count, as in `alert_words`."""
MICROSECONDS: Final = 1000

_PLACE: Final = """
  accepted_at <= 'epoch'::timestamptz + %(at_us)s * interval '1 microsecond'
  AND (accepted_at < 'epoch'::timestamptz + %(at_us)s * interval '1 microsecond'
    OR alert_id > %(row_id)s)
  AND accepted_at >= 'epoch'::timestamptz + %(since_us)s * interval '1 microsecond'"""

# Words are taken as beginnings, but not where the next one follows without a space: then it was
# written to its end, and to look for such a beginning (R in R-1037) costs more than all the rest.
# Parts of a word with hyphens, and addresses, which come as host and path too, add nothing.
# Postgres makes small letters here as in `alert_words`; of some capitals Python makes others.
_QUERY: Final = r"""
WITH tokens AS (
  SELECT token, alias, lead(alias) OVER (ORDER BY place) AS following
  FROM ts_parse('default', %(text)s) WITH ORDINALITY AS word (tokid, token, place)
  JOIN ts_token_type('default') AS kind USING (tokid)
  WHERE alias NOT IN ('url', 'hword_part', 'hword_asciipart', 'hword_numpart')
), terms (term, ending) AS (
  SELECT lower(token), CASE WHEN coalesce(following, 'blank') = 'blank' THEN ':*' ELSE '' END
  FROM tokens WHERE alias NOT IN ('blank', 'tag', 'protocol', 'entity')
  UNION ALL SELECT left(lower(name), %(name_limit)s), '' FROM unnest(%(names)s::text[]) AS name
), asked AS MATERIALIZED (
  SELECT string_agg('''' || replace(replace(term, '\', '\\'), '''', '''''') || '''' || ending,
    ' & ')::tsquery AS query
  FROM terms
), """
_REST: Final = """
FROM found AS alerts ORDER BY accepted_at DESC, alert_id LIMIT %(limit)s"""

_OF_WATCH: Final = " watch = %(watch)s AND"
_IS_OPEN: Final = " acknowledged_at IS NULL AND"
_COLUMNS: Final = reading_sql.ALERT_COLUMNS
_KEPT: Final = (
    "alert_id, watch, severity, summary, appended_at, detected_at, accepted_at, acknowledged_at"
)


def _newest(among: LiteralString = "") -> LiteralString:
    return "".join(
        (
            "SELECT ",
            _KEPT,
            ", words FROM alerts WHERE",
            among,
            _PLACE,
            " ORDER BY accepted_at DESC, alert_id LIMIT %(walk)s",
        )
    )


# Open ones are found severity by severity, as their index is, and the newest of all are kept.
_NEWEST_OPEN: Final = "".join(
    (
        "SELECT newest.* FROM unnest(%(severities)s::text[]) AS each (of_severity), LATERAL (",
        _newest(" severity = of_severity AND acknowledged_at IS NULL AND"),
        ") AS newest ORDER BY accepted_at DESC, alert_id LIMIT %(walk)s",
    )
)


def _walk(newest: LiteralString, kept: LiteralString = "") -> LiteralString:
    return "".join(
        (
            _QUERY,
            "found AS (SELECT ",
            _KEPT,
            " FROM (",
            newest,
            ") AS newest WHERE",
            kept,
            " words @@ (SELECT query FROM asked)) ",
            _COLUMNS,
            _REST,
        )
    )


def _by_words(among: LiteralString = "") -> LiteralString:
    return "".join(
        (
            _QUERY,
            "found AS MATERIALIZED (SELECT ",
            _KEPT,
            " FROM alerts WHERE words @@ (SELECT query FROM asked) AND",
            among,
            _PLACE,
            ") ",
            _COLUMNS,
            _REST,
        )
    )


WALK: Final = _walk(_newest())
WALK_OF_WATCH: Final = _walk(_newest(_OF_WATCH))
"""The same among one watch's alerts: a storm of another may be all that is newer."""
OPEN_OF_WATCH: Final = _walk(_newest(_OF_WATCH), _IS_OPEN)
WALK_OF_OPEN: Final = _walk(_NEWEST_OPEN)
BY_WORDS: Final = _by_words()
BY_WORDS_OF_OPEN: Final = _by_words(_IS_OPEN)
NEWEST_OPEN: Final = "".join(("WITH found AS (", _NEWEST_OPEN, ") ", _COLUMNS, _REST))


@dataclass(frozen=True)
class Search:
    """What is looked for: all of it must fit. Times are milliseconds since 1970 (UTC).

    `text` are words, or their beginnings, of the summary, the key's and the labels' values.
    """

    text: str = ""
    watch: str = ""
    severity: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    since_ms: int = 0
    until_ms: int | None = None
    open_only: bool = False
    """Only what nobody has acknowledged."""

    @property
    def questions(self) -> tuple[str, ...]:
        """The question to ask, and those to ask where the ones before find too few."""
        if self.is_wide:
            return (NEWEST_OPEN if self.open_only else reading_sql.NEWEST_ALERTS,)
        if self.open_only:
            first = (OPEN_OF_WATCH,) if self.watch else ()
            return *first, WALK_OF_OPEN, BY_WORDS_OF_OPEN
        return (WALK_OF_WATCH if self.watch else WALK), BY_WORDS

    @property
    def is_wide(self) -> bool:
        """Whether only what has an index of its own is asked for, which needs no words: times, and
        of what is open the severity.
        """
        severity = "" if self.open_only else self.severity
        return not (self.watch or severity or self.labels or self.has_words)

    @property
    def has_words(self) -> bool:
        """Whether the text has anything that can be a word."""
        return any(each.isalnum() for each in self.text)

    def terms(self, after: PageStart, limit: int) -> dict[str, Any]:
        """Return the terms of the questions, to go on from a page's start on."""
        if self.until_ms is not None and self.until_ms * MICROSECONDS < after.at_us:
            after = PageStart(self.until_ms * MICROSECONDS, "")
        return {
            "text": self.text if self.has_words else "",
            "names": list(self._names()),
            "name_limit": NAME_LIMIT_CHARACTERS,
            "at_us": after.at_us,
            "row_id": after.row_id,
            "since_us": self.since_ms * MICROSECONDS,
            "walk": limit if self.is_wide else WALK_LIMIT,
            "limit": limit,
            "watch": self.watch,
            "severities": [str(each) for each in ([self.severity] if self.severity else Severity)],
        }

    def _names(self) -> Iterator[str]:
        if self.watch:
            yield f"watch:{self.watch}"
        if self.severity:
            yield f"severity:{self.severity}"
        for name, value in self.labels.items():
            yield f"label:{name}={value}"
