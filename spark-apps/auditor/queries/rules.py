"""A watch's table of rules: read from CSV, held to its declaration, joined by broadcast."""

import csv
import json
import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from services.contracts.declarations import BadDeclaration
from services.contracts.watches import RulesDeclaration

ROWS_MAX: Final = 100_000
FILE_LIMIT_BYTES: Final = 16 * 1024 * 1024

Value = str | int | float | bool | None
Row = tuple[Value, ...]

_TRUTH: Final = {"true": True, "false": False}
_BIGINT_MAX: Final = 2**63 - 1


def read_rules(declared: RulesDeclaration, folder: Path) -> tuple[Row, ...]:
    """Return the rows of a watch's table; an empty field is null.

    Raises:
        BadDeclaration: with the file, the line and what is wrong there.
    """
    path = folder / declared.file
    try:
        if path.stat().st_size > FILE_LIMIT_BYTES:
            raise BadDeclaration(f"{path.name}: over {FILE_LIMIT_BYTES} bytes")
        # Excel puts a mark before what it saves as UTF-8.
        with path.open(newline="", encoding="utf-8-sig") as file:
            return _rows(declared, path.name, csv.reader(file, strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadDeclaration(f"{path.name}: {error}") from None


def _rows(declared: RulesDeclaration, name: str, lines: Iterable[list[str]]) -> tuple[Row, ...]:
    wanted = list(declared.columns)
    numbered = enumerate(lines, start=1)
    _, header = next(numbered, (1, []))
    if header != wanted:
        raise BadDeclaration(f"{name}, line 1: the header must be {','.join(wanted)}")
    rows = []
    for number, line in numbered:
        if number > ROWS_MAX + 1:
            raise BadDeclaration(f"{name}: more than {ROWS_MAX} rules")
        if len(line) != len(wanted):
            raise BadDeclaration(
                f"{name}, line {number}: {len(line)} fields, there must be {len(wanted)}"
            )
        rows.append(_row(declared.columns, line, f"{name}, line {number}"))
    return tuple(rows)


def _row(columns: Mapping[str, str], line: list[str], where: str) -> Row:
    values: list[Value] = []
    for (column, kind), field in zip(columns.items(), line, strict=True):
        try:
            values.append(_READ[kind](field) if field else None)
        except (ValueError, KeyError):
            raise BadDeclaration(f"{where}: {column}: {field[:80]!r} is no {kind}") from None
    return tuple(values)


def _digits(field: str) -> str:
    """Python reads `1_000` as a number, which nobody writes into a table as one."""
    if "_" in field:
        raise ValueError(field)
    return field


def _bigint(field: str) -> int:
    number = int(_digits(field))
    if not -_BIGINT_MAX <= number <= _BIGINT_MAX:
        raise ValueError(field)
    return number


def _double(field: str) -> float:
    number = float(_digits(field))
    if not math.isfinite(number):
        raise ValueError(field)
    return number


_READ: Final[Mapping[str, Callable[[str], Value]]] = {
    "string": str,
    "bigint": _bigint,
    "double": _double,
    "boolean": lambda field: _TRUTH[field.lower()],
}


def table(spark: SparkSession, declared: RulesDeclaration, rows: Iterable[Row]) -> DataFrame:
    """Return the rules as a table that every task gets a copy of.

    The rows travel inside the plan, as one text: Spark needs no file and no program for them.
    """
    names = list(declared.columns)
    text = json.dumps([dict(zip(names, row, strict=True)) for row in rows])
    fields = ", ".join(f"{name}: {kind}" for name, kind in declared.columns.items())
    listed = F.from_json(F.lit(text), f"array<struct<{fields}>>")
    # In one part: Spark's default is a task for each slot, to each of which all rows are sent.
    one_row = spark.range(0, 1, 1, 1)
    # Asked for, not left to what Spark guesses of its size: so a join with it moves no rows.
    return F.broadcast(one_row.select(F.inline(listed)))
