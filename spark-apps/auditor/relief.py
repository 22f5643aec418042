"""`python -m auditor.relief ADDRESS`: waits until the partner at that address is whole.

Made for what runs before an auditor is told to stop: an upgrade then takes one of two at a time,
though Kubernetes begins with both at once.
"""

import argparse
import http.client
import sys
import threading
import urllib.request
from collections.abc import Callable, Sequence
from typing import Final

from services.backbone.clock import Clock, SystemClock

ASK_EVERY_SECONDS: Final = 1.0
ANSWER_TIMEOUT_SECONDS: Final = 2.0
_DIRECTLY: Final = urllib.request.build_opener(urllib.request.ProxyHandler({}))
"""A proxy that the cluster names in the environment leads out of it, and knows no partner."""


def relieved(
    ready: Callable[[], bool], clock: Clock, steady_seconds: float, limit_seconds: float
) -> bool:
    """Wait until `ready` has said yes for so long without a break; return False at the limit.

    A partner that is being stopped too still says yes for a moment, so one yes is not enough.
    """
    never = threading.Event()
    now = begun = since = clock.monotonic_seconds()
    while now - begun < limit_seconds:
        if not ready():
            since = clock.monotonic_seconds() + ASK_EVERY_SECONDS
        elif now - since >= steady_seconds:
            return True
        clock.wait(never, ASK_EVERY_SECONDS)
        now = clock.monotonic_seconds()
    return False


def page_is_ready(address: str) -> bool:
    """Ask a health page; whatever is no good answer is a no."""
    try:
        with _DIRECTLY.open(address, timeout=ANSWER_TIMEOUT_SECONDS) as answer:
            return bool(answer.status == http.client.OK)
    except (OSError, http.client.HTTPException):
        return False


def http_address(text: str) -> str:
    """Return an address if it is one of HTTP, for the parser of arguments."""
    if not text.startswith("http://"):
        raise argparse.ArgumentTypeError("an address begins with http://")
    return text


def main(arguments: Sequence[str]) -> int:
    """Wait; what comes of it does not hold up the stop."""
    parser = argparse.ArgumentParser(prog="auditor.relief", description=__doc__)
    parser.add_argument("address", type=http_address, help="the partner's page /healthz/ready")
    # A partner is ready when its first batch begins; on a crowded node it judged 25 s after that.
    parser.add_argument("--steady-seconds", type=float, default=30.0)
    parser.add_argument("--limit-seconds", type=float, default=180.0)
    chosen = parser.parse_args(arguments)
    came = relieved(
        lambda: page_is_ready(chosen.address),
        SystemClock(),
        chosen.steady_seconds,
        chosen.limit_seconds,
    )
    sys.stdout.write("the partner is whole\n" if came else "the partner did not become whole\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
