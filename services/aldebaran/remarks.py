"""Lines beginning with `#`, for whoever looks on: no part of what a command lists."""

import sys
from typing import TextIO

from services.backbone.errors import Transient
from services.backbone.lines import tell


class Remarks:
    """Stand among the lines for people, and beside JSON, which another program reads, on stderr.

    Each is seen at once, also where the output is a pipe.
    """

    def __init__(self, out: TextIO, as_json: bool) -> None:
        self._out = sys.stderr if as_json else out
        self._is_away = False

    def say(self, text: str) -> None:
        """Write a remark."""
        tell(self._out, f"# {text}")
        self._out.flush()

    def away(self, error: Transient) -> None:
        """Say that the console does not answer, once until it does."""
        if not self._is_away:
            self.say(str(error))
        self._is_away = True

    def answered(self) -> None:
        """Note that the console answers."""
        self._is_away = False
