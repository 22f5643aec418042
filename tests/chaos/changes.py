"""A watch's file changed while everything runs, until every auditor has taken the change over."""

import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from services.contracts.watches import SHIPPED_WATCHES
from services.machine.waiting import wait_until
from tests.chaos.cells import Fault
from tests.said import said, written_to

TAKEN_TIMEOUT_SECONDS: Final = 600.0


@dataclass(frozen=True)
class Change:
    """Words of a watch's file and those in their place, None where the file itself is gone;
    `told` is what an auditor says then."""

    watch: str
    before: str | None
    after: str | None
    told: str = "change_done"
    told_back: str = "change_done"

    def back(self) -> "Change":
        """Return what undoes it."""
        return Change(self.watch, self.after, self.before, self.told_back, self.told)


CHANGES: Final = {
    Fault.REWORDED: Change("over-purchase", 'summary: "Order', 'summary: "The order'),
    Fault.RULED: Change("over-purchase", "limit: 24 hours", "limit: 25 hours"),
    Fault.PAUSED: Change(
        "unusual-volume", "version: 1", "version: 1\npaused: true", told="watch_ended"
    ),
    Fault.REMOVED: Change("unusual-volume", "version: 1", None, told="watch_ended"),
}


class Declared:
    """The folder of watches that a running system's auditors read, and where they log."""

    def __init__(self, folder: Path, logs: Path) -> None:
        self.folder = folder
        self._gone = folder.with_name(f"{folder.name}-gone")
        self._gone.mkdir()
        self._logs = logs
        shutil.copytree(SHIPPED_WATCHES, folder)

    def change(self, change: Change, auditors: Sequence[str]) -> None:
        """Write a change, and wait until each of these auditors tells that it has been made."""
        before = {name: self._told(name, change) for name in auditors}
        self._write(change)
        wait_until(
            lambda: all(self._told(name, change) > before[name] for name in auditors),
            TAKEN_TIMEOUT_SECONDS,
            f"not every auditor says {change.told} of {change.watch}",
        )

    def _write(self, change: Change) -> None:
        path, gone = (folder / f"{change.watch}.yaml" for folder in (self.folder, self._gone))
        if change.before is None:
            gone.rename(path)
        elif change.after is None:
            path.rename(gone)
        else:
            text = path.read_text("utf-8")
            assert change.before in text, f"{path.name}: {change.before!r} is not there"
            path.write_text(text.replace(change.before, change.after, 1), "utf-8")

    def _told(self, auditor: str, change: Change) -> int:
        lines = said(written_to(self._logs / f"{auditor}.log"))
        return Counter((line["event"], line.get("watch")) for line in lines)[
            change.told, change.watch
        ]
