"""Turns a merchant's feed (TSV with a header) into events of stream offers, one JSON object a line.

What cannot be read goes on as it stands: the gateway refuses that line, says why, and keeps it.

    python3 docs/examples/offers/lines.py shop-7 < feed.tsv > feed.ndjson
"""

import csv
import json
import sys
from collections.abc import Iterable, Iterator


def events(merchant: str, feed: Iterable[str]) -> Iterator[str]:
    """Return one line of JSON for each offer; a field that is empty is left out."""
    rows = csv.DictReader(feed, delimiter="\t", quoting=csv.QUOTE_NONE)
    for row in rows:
        amount, _, currency = (row.get("price") or "").partition(" ")
        event = {
            "offer": f"{merchant}/{row['id']}" if row.get("id") else "",
            "merchant": merchant,
            "title": row.get("title"),
            "price": _number(amount),
            "currency": currency,
            "availability": row.get("availability"),
            "line": rows.line_num,
        }
        yield json.dumps({name: value for name, value in event.items() if value != ""})


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


if __name__ == "__main__":
    csv.field_size_limit(2**31 - 1)
    # A byte that is no UTF-8 becomes half a character, which no gateway takes.
    with open(0, encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        sys.stdout.writelines(f"{line}\n" for line in events(sys.argv[1], file))
