"""`python -m engine.leftovers SELECTOR`: removes the executors that a driver before left behind.

On Kubernetes a driver's container may be started again in its pod; executors of the driver before
then go on for a while, or stay as failed pods, as their owner is still there.
"""

import http.client
import sys
from collections.abc import Sequence

from engine.pods import ACCOUNT, API, AT_ONCE, remove


def main(arguments: Sequence[str]) -> int:
    """Remove them; what cannot be removed does not hold up the start."""
    (selector,) = arguments
    try:
        count = remove(API, ACCOUNT, selector, AT_ONCE)
    except (OSError, ValueError, http.client.HTTPException) as error:
        sys.stderr.write(f"executors left behind are not removed: {error}\n")
        return 0
    sys.stdout.write(f"removed {count} executors of the driver before\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
