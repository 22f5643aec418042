"""Remembers up to which append time an account has judged."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

from services.backbone.errors import Refused


@dataclass(frozen=True, slots=True)
class Bookmark:
    """One account's file."""

    path: Path

    def read(self) -> int | None:
        """Return the time in milliseconds since 1970, or None before the first run.

        Raises:
            Refused: the file holds no time.
            OSError: it cannot be read now.
        """
        try:
            return int(json.loads(self.path.read_text())["judged_until_ms"])
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError) as error:
            raise Refused(
                f"{self.path} cannot be read ({error}): remove it, and the account judges its "
                "look-back again; rows that were found before keep their ids"
            ) from None

    def write(self, judged_until_ms: int) -> None:
        """Write so that a crash leaves either the old time or the new one."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = self.path.with_suffix(".new")
        with new.open("w") as file:
            json.dump({"judged_until_ms": judged_until_ms}, file)
            file.flush()
            os.fsync(file.fileno())
        new.replace(self.path)
