"""Declares streams of which a test needs no more than that they are there."""

from pathlib import Path

import yaml


def declare(folder: Path, stream: str, retention_hours: int) -> None:
    """Write the file of a stream whose events have an id, or write it anew."""
    said = {
        "stream": stream,
        "version": 1,
        "description": "what is kept for a while",
        "key": "id",
        "retention_hours": retention_hours,
        "fields": {"id": {"type": "string", "required": True}},
    }
    (folder / f"{stream}.yaml").write_text(yaml.safe_dump(said))
