"""The shipped declarations in folders that a test may change."""

from pathlib import Path

from services.contracts.streams import SHIPPED_STREAMS

NEVER_FITS = """
stream: odd
version: 1
description: a default that no event can take
key: host
fields:
  host: {type: string, required: true}
  load: {type: double}
defaults:
  - {field: host, copy: load}
"""
"""A stream with a default that no event can take; of all programs it harms a gateway."""


def copied(folder: Path, shipped_watches: Path) -> tuple[Path, Path]:
    """Copy the shipped streams and watches; return the two new folders."""
    streams, watches = folder / "streams", folder / "watches"
    for here, shipped in ((streams, SHIPPED_STREAMS), (watches, shipped_watches)):
        here.mkdir()
        for path in shipped.glob("*.yaml"):
            (here / path.name).write_text(path.read_text())
    return streams, watches
