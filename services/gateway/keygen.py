"""`python -m services.gateway keygen NAME`: make an API key, show it once."""

import argparse
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from services.backbone.clock import SystemClock
from services.backbone.errors import Refused
from services.gateway.keys import ALL_STREAMS, entry, new_key


def keygen(arguments: Sequence[str]) -> int:
    """Write the key to standard output and its entry for the file of keys below; exit code."""
    parser = argparse.ArgumentParser("python -m services.gateway keygen", description=__doc__)
    parser.add_argument("name", help="whose key it is, for example exchange-feed")
    parser.add_argument("--stream", action="append", help="a stream that it opens (default: all)")
    parser.add_argument("--days", type=int, help="days until it expires (default: never)")
    chosen = parser.parse_args(arguments)
    key = new_key()
    try:
        lines = entry(chosen.name, key, chosen.stream or [ALL_STREAMS], _expiry(chosen.days))
    except Refused as error:
        sys.stderr.write(f"no key was made: {error}\n")
        return 2
    sys.stdout.write(
        f"# The key, shown only now; give it to the sender:\n{key}\n\n"
        "# Its entry; append it under `keys:` in the file that ALDEBARAN_API_KEYS_FILE names:\n"
        f"{lines}"
    )
    return 0


def _expiry(days: int | None) -> datetime | None:
    if days is None:
        return None
    now = datetime.fromtimestamp(SystemClock().now_ms() / 1000, UTC).replace(microsecond=0)
    return now + timedelta(days=days)
