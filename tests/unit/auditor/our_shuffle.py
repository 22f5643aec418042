"""What our own shuffle says of a task that it waits for too long, as its source has it."""

import re
from pathlib import Path
from typing import Final

LANE: Final = Path(__file__).parents[3] / "spark-apps/java/aldebaran/shuffle/Lane.java"
_RAISED: Final = re.compile(r"throw new IllegalStateException\((.*?)\);", re.S)


def our_shuffle_says() -> str:
    """Return the message under which a query ends when a task has not begun to write in time."""
    (raised,) = _RAISED.findall(LANE.read_text("utf-8"))
    return "java.lang.IllegalStateException: " + "".join(re.findall(r'"([^"]*)"', raised))
