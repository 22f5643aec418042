"""Checkpoints as releases wrote them before the sequence of a book's columns counted."""

import json
from dataclasses import asdict, replace
from pathlib import Path

from auditor.checkpoint import Fingerprint, fingerprint
from tests.unit.auditor.batches import STREAMS, WATCHES

WATCH, WITHOUT_BOOK = WATCHES["over-purchase"], WATCHES["unusual-volume"]
WANTED = fingerprint(WATCH, STREAMS, 2)
EARLIER = replace(WANTED, book="", white_space="")
"""What the same watch was before the sequence of its columns counted, and its white space."""
STORE = "s3a://bucket/a/w"
NOW_MS = 1_700_000_000_000


def written_before(home: Path, was: Fingerprint = EARLIER, store: bool = False) -> Path:
    """Write one with state, for a store with the note of its part."""
    folder = home / was.id
    (folder / "spark").mkdir(parents=True)
    (folder / "spark" / "metadata").write_text("kept")
    (folder / "watch.json").write_text(json.dumps(without_book(was)))
    if store:
        (folder / "store.json").write_text(json.dumps({"since_ms": 7}))
    return folder


def without_book(was: Fingerprint) -> dict[str, object]:
    later = ("book", "white_space")
    return {name: part for name, part in asdict(was).items() if name not in later}
