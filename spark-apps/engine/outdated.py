"""`python -m engine.outdated SELECTOR...`: ends drivers that run by what was asked for before.

Apache's Spark operator starts a driver by what its object asks for at that moment, and then leaves
it so, whatever the object becomes. Ended, a driver is started again by what is asked for now.
"""

import http.client
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Final

from engine.pods import ACCOUNT, API, DRAINED, remove
from services.backbone.clock import Clock, SystemClock

ASK_EVERY_SECONDS: Final = 5.0


def end(selectors: Sequence[str], ended: Callable[[str], int], clock: Clock) -> int:
    """Have pods ended until there are none; return how many there were at first.

    Asked again, as the operator may have started one while it had not seen the change.
    """
    never = threading.Event()
    first = count = sum(map(ended, selectors))
    while count:
        clock.wait(never, ASK_EVERY_SECONDS)
        count = sum(map(ended, selectors))
    return first


def main(selectors: Sequence[str]) -> int:
    """End them; where the API server is away or refuses, say so and fail."""
    try:
        count = end(selectors, lambda each: remove(API, ACCOUNT, each, DRAINED), SystemClock())
    except (OSError, ValueError, http.client.HTTPException) as error:
        sys.stderr.write(f"drivers by what was asked for before are not ended: {error}\n")
        return 1
    sys.stdout.write(f"ended {count} drivers by what was asked for before\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
