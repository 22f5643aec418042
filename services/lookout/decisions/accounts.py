"""What the ledger keeps of a decision at intake: routes asked, and each recipient's verdict."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

import orjson

from services.lookout.decisions.judgement import Judged
from services.lookout.routing import Plan, Routes

CONSIDERED_LIMIT: Final = 100
"""Most routes that are kept with an alert; the first are."""


def encode_decision(
    routes: Routes, plan: Plan, told: Iterable[tuple[str, Judged]], at: datetime
) -> bytes:
    """Return the JSON of `alerts.decision`; `told` are verdicts by delivery id."""
    asked = [(each.route, each.fits, each.why, each.depth) for each in plan.considered]
    decision: dict[str, Any] = {
        "at": at,
        "routes_version": routes.version_id,
        "considered": asked[:CONSIDERED_LIMIT],
        "told": [_verdict(delivery_id, judged) for delivery_id, judged in told],
    }
    if (left_out := len(asked) - CONSIDERED_LIMIT) > 0:
        decision["considered_left_out"] = left_out
    return orjson.dumps(decision)


def _verdict(delivery_id: str, judged: Judged) -> dict[str, Any]:
    target, waits = judged.instruction.target, judged.suppression
    verdict: dict[str, Any] = {
        "delivery_id": delivery_id,
        "channel": target.channel,
        "recipient": target.recipient,
        "route": judged.instruction.route,
        "why": judged.why,
    }
    return verdict if waits is None else verdict | {"by": waits.by, "until": waits.until}
