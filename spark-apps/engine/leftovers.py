"""`python -m engine.leftovers SELECTOR`: removes the executors that a driver before left behind.

On Kubernetes a driver's container may be started again in its pod; executors of the driver before
then go on for a while, or stay as failed pods, as their owner is still there.
"""

import json
import ssl
import sys
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from urllib.parse import quote

ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
API: Final = "https://kubernetes.default.svc:443"
TIMEOUT_SECONDS: Final = 10.0
AT_ONCE: Final = {"gracePeriodSeconds": 0}
DRAINED: Final[dict[str, int]] = {}
"""Each pod has the time to end that it was given."""


def request(
    api: str, account: Path, selector: str, options: dict[str, int]
) -> urllib.request.Request:
    """Return what asks the API server to end all pods of a selector, as the options say.

    Raises:
        OSError: this is no pod with an account.
    """
    namespace = (account / "namespace").read_text("utf-8").strip()
    token = (account / "token").read_text("utf-8").strip()
    return urllib.request.Request(  # noqa: S310 - the address is ours
        f"{api}/api/v1/namespaces/{namespace}/pods?labelSelector={quote(selector)}",
        method="DELETE",
        headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
        data=json.dumps(options).encode(),
    )


def remove(api: str, account: Path, selector: str, options: dict[str, int] = AT_ONCE) -> int:
    """Have the pods ended, at once or with the time that each has; return how many there were.

    Raises:
        OSError: the API server is away or refuses.
    """
    authority = account / "ca.crt"
    trust = ssl.create_default_context(cafile=authority) if authority.exists() else None
    asked = request(api, account, selector, options)
    with urllib.request.urlopen(asked, timeout=TIMEOUT_SECONDS, context=trust) as answer:  # noqa: S310 - the address is ours
        return len(json.load(answer).get("items") or [])


def main(arguments: Sequence[str]) -> int:
    """Remove them; what cannot be removed does not hold up the start."""
    (selector,) = arguments
    try:
        count = remove(API, ACCOUNT, selector)
    except (OSError, ValueError) as error:
        sys.stderr.write(f"executors left behind are not removed: {error}\n")
        return 0
    sys.stdout.write(f"removed {count} executors of the driver before\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
