"""Pods of this namespace, ended by their labels, from a pod whose account may do so."""

import json
import ssl
import urllib.request
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


def remove(api: str, account: Path, selector: str, options: dict[str, int]) -> int:
    """Have the pods ended, at once or with the time that each has; return how many there were.

    Raises:
        OSError: the API server is away or refuses.
        HTTPException: what answers is none.
    """
    authority = account / "ca.crt"
    trust = ssl.create_default_context(cafile=authority) if authority.exists() else None
    asked = request(api, account, selector, options)
    # A proxy that the cluster names in the environment leads out of it.
    directly = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=trust)
    )
    with directly.open(asked, timeout=TIMEOUT_SECONDS) as answer:
        return len(json.load(answer).get("items") or [])
