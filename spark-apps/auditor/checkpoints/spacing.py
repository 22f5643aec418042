"""Tells what white space in a watch's SQL means: nothing, but within a text and behind `--`."""

from functools import lru_cache

import sqlglot


def words(sql: str) -> str:
    """Return the SQL with one blank for whatever white space it has, on one line."""
    return " ".join(sql.split())


@lru_cache(maxsize=256)
def meant(sql: str) -> str:
    """Return how the SQL is read where its `words` alone would be read otherwise, "" elsewhere.

    On one line a comment behind `--` takes all that follows, and two blanks of a text are one.
    """
    read = _read(sql)
    return "" if read == _read(words(sql)) else read


def _read(sql: str) -> str:
    """Return its tokens as written, with a blank for what lies between them, comments included."""
    parts: list[str] = []
    end = 0
    try:
        for token in sqlglot.tokenize(sql, read="spark"):
            # Of a number with a type there are three, all at one place.
            if token.end < end:
                continue
            parts += [" "] if token.start > end else []
            parts.append(sql[token.start : token.end + 1])
            end = token.end + 1
    except sqlglot.errors.TokenError:
        return sql
    return "".join(parts).strip()
