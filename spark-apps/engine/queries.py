"""Holds declared SQL to one SELECT over declared streams, before Spark sees it.

It is a first look, which needs no Spark: of what Spark reads otherwise `engine.selects` is sure.
"""

import re
from collections.abc import Collection, Iterator
from itertools import pairwise
from typing import Final

import sqlglot
from sqlglot import TokenType, exp

from services.backbone.errors import Refused

_FORBIDDEN: Final = frozenset({"reflect", "try_reflect", "java_method", "identifier"})
"""Functions that call any Java, or whose names are made while the SQL is read."""

_AMBIGUOUS: Final = {
    "{# or {% or {{": re.compile(r"\{[#%{]"),
    "a backslash at the end of a line": re.compile(r"\\[\r\n]"),
    "/* within a comment": re.compile(r"/\*((?!\*/).)*/\*", re.DOTALL),
}
"""Where Spark sees another comment than the parser that we look with."""

_TIMED: Final = frozenset({"date", "timestamp", "timestamp_ltz", "timestamp_ntz"})
_WORD: Final = re.compile(r"\s*(now|today|tomorrow|yesterday)\b", re.IGNORECASE)

UNFORESEEN: Final = (ValueError, LookupError, TypeError, AttributeError)
"""What Python raises in one who reads a declaration and meets what he did not think of."""


def check_select(what: str, sql: str, streams: Collection[str]) -> set[str]:
    """Refuse SQL that is not one SELECT over these streams; Spark would run commands.

    Returns the names that it reads from, those of its own subqueries among them.

    Raises:
        Refused: with what was found instead; the message begins with `what`.
    """
    if doubtful := [said for said, written in _AMBIGUOUS.items() if written.search(sql)]:
        raise Refused(f"{what}: the SQL has {', '.join(doubtful)}: write it without")
    statements = _parsed(what, sql)
    if len(statements) != 1 or not isinstance(statements[0], exp.Query):
        kinds = ", ".join(type(item).__name__.upper() for item in statements) or "nothing"
        raise Refused(f"{what}: the SQL must be one SELECT, it is: {kinds}")
    if called := sorted(set(_forbidden(sql))):
        raise Refused(f"{what}: the SQL calls {', '.join(called)}; it may read events only")
    named = {cte.alias for cte in statements[0].find_all(exp.CTE)}
    tables = list(statements[0].find_all(exp.Table))
    known = named | set(streams)
    if unknown := {_spelled(each) for each in tables if each.db or each.name not in known}:
        raise Refused(
            f"{what}: the SQL reads {', '.join(sorted(unknown))}; "
            "add it to `streams`, or correct the name"
        )
    return {each.name for each in tables}


def _parsed(what: str, sql: str) -> list[exp.Expr]:
    try:
        return [item for item in sqlglot.parse(sql, dialect="spark") if item]
    except RecursionError:
        raise Refused(f"{what}: the SQL is nested too deep") from None
    # Of a call with arguments that it does not foresee the parser tells as Python does.
    except (sqlglot.errors.SqlglotError, *UNFORESEEN) as error:
        raise Refused(f"{what}: the SQL cannot be read: {plain(error)}") from None


def _forbidden(sql: str) -> Iterator[str]:
    tokens = sqlglot.tokenize(sql, read="spark")
    for token, following in pairwise(tokens):
        if token.text.lower() in _FORBIDDEN and following.text == "(":
            yield token.text.lower()
        # A program of the machine follows, and not the columns of a join.
        if token.token_type is TokenType.USING and following.text != "(":
            yield "a program by USING"


def moments(sql: str) -> Iterator[str]:
    """Give each date and time that is written as a word, which stays what it was at the start."""
    for kind, word in pairwise(sqlglot.tokenize(sql, read="spark")):
        is_timed = kind.text.lower() in _TIMED and word.token_type is TokenType.STRING
        if is_timed and is_of_the_clock(word.text):
            yield f"{kind.text} '{word.text}'"


def is_of_the_clock(text: str) -> bool:
    """Tell whether Spark takes a text for the clock's where a date or time is wanted."""
    return bool(_WORD.match(text))


def _spelled(table: exp.Table) -> str:
    named = ".".join(part for part in (table.catalog, table.db, table.name) if part)
    return named or table.sql(dialect="spark")


def plain(error: Exception) -> str:
    """Return the first sentence of an error, without plans and escape codes."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    return " ".join(text.split(" SQLSTATE")[0].split(";\n")[0].split())[:500]
