"""Holds declared SQL to one SELECT over declared streams, before Spark sees it."""

import re
from collections.abc import Collection

import sqlglot
from sqlglot import exp

from services.backbone.errors import Refused


def check_select(what: str, sql: str, streams: Collection[str]) -> None:
    """Refuse SQL that is not one SELECT over these streams; Spark would run commands.

    Raises:
        Refused: with what was found instead; the message begins with `what`.
    """
    try:
        statements = [item for item in sqlglot.parse(sql, dialect="spark") if item]
    except sqlglot.errors.SqlglotError as error:
        raise Refused(f"{what}: the SQL cannot be read: {plain(error)}") from None
    if len(statements) != 1 or not isinstance(statements[0], exp.Query):
        kinds = ", ".join(type(item).__name__.upper() for item in statements) or "nothing"
        raise Refused(f"{what}: the SQL must be one SELECT, it is: {kinds}")
    named = {cte.alias for cte in statements[0].find_all(exp.CTE)}
    tables = {table.name for table in statements[0].find_all(exp.Table)}
    if unknown := tables - named - set(streams):
        raise Refused(
            f"{what}: the SQL reads {', '.join(sorted(unknown))}; "
            "add it to `streams`, or correct the name"
        )


def plain(error: Exception) -> str:
    """Return the first sentence of an error, without plans and escape codes."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    return " ".join(text.split(" SQLSTATE")[0].split(";\n")[0].split())[:500]
