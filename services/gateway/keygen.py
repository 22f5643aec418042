"""`python -m services.gateway keygen NAME`: make an API key, show it once."""

import argparse
import sys
from collections.abc import Sequence

from services.backbone.clock import SystemClock
from services.backbone.errors import Refused
from services.backbone.web.keys import expiry, new_key, shown
from services.gateway.senders import ALL_STREAMS, entry


def keygen(arguments: Sequence[str]) -> int:
    """Write the key to standard output and its entry for the file of keys below; exit code."""
    parser = argparse.ArgumentParser("python -m services.gateway keygen", description=__doc__)
    parser.add_argument("name", help="whose key it is, for example exchange-feed")
    parser.add_argument("--stream", action="append", help="a stream that it opens (default: all)")
    parser.add_argument("--days", type=int, help="days until it expires (default: never)")
    chosen = parser.parse_args(arguments)
    key = new_key()
    try:
        ends = expiry(SystemClock(), chosen.days)
        lines = entry(chosen.name, key, chosen.stream or [ALL_STREAMS], ends)
    except Refused as error:
        sys.stderr.write(f"no key was made: {error}\n")
        return 2
    sys.stdout.write(shown(key, lines, "ALDEBARAN_API_KEYS_FILE"))
    return 0
