"""The shipped declarations in folders that a test may change."""

from pathlib import Path

from services.contracts.streams import SHIPPED_STREAMS


def copied(folder: Path, shipped_watches: Path) -> tuple[Path, Path]:
    """Copy the shipped streams and watches; return the two new folders."""
    streams, watches = folder / "streams", folder / "watches"
    for here, shipped in ((streams, SHIPPED_STREAMS), (watches, shipped_watches)):
        here.mkdir()
        for path in shipped.glob("*.yaml"):
            (here / path.name).write_text(path.read_text())
    return streams, watches
