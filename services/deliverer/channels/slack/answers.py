"""What Slack's answers to a message mean."""

from collections.abc import Mapping
from typing import Any, Final

from services.deliverer.outcomes import Accepted, Outcome, Permanent, Refused, Unknown
from services.deliverer.posting import REASON_LIMIT

_LATER: Final = frozenset(
    {"ratelimited", "rate_limited", "message_limit_exceeded", "request_timeout"}
)
"""Not taken: too many messages, or a request that did not come whole."""
_HALF_DONE: Final = frozenset({"fatal_error", "internal_error", "service_unavailable"})
"""Slack says of these that some of it may have been done."""
_OURS: Final = frozenset(
    {
        "access_denied",
        "accesslimited",
        "account_inactive",
        "ekm_access_denied",
        "invalid_auth",
        "missing_scope",
        "no_permission",
        "not_allowed_token_type",
        "not_authed",
        "org_login_required",
        "team_access_not_granted",
        "team_added_to_org",
        "token_expired",
        "token_revoked",
        "two_factor_setup_required",
    }
)
"""They say nothing about the message: our token or its scopes are to be put right, or Slack lets
nobody in for now."""
_CHECK: Final = "check slack_bot_token and the bot's scopes"
_ADVICE: Final[Mapping[str, str]] = {
    "accesslimited": "Slack's administrators let in certain networks only: have this one added",
    "org_login_required": "the workspace moves to an organization, which ends by itself",
    "team_added_to_org": "the workspace moves to an organization, which ends by itself",
    "not_in_channel": "invite the bot to the channel, then send it again",
    "channel_not_found": "check the conversation's id, and invite the bot to it",
    "is_archived": "the channel is archived: route to another",
}


def answered(status: int, said: Mapping[str, Any], retry_after: float | None) -> Outcome:
    """Sort an answer; `said` is its JSON body, or empty."""
    error = str(said.get("error", ""))
    reason = f"Slack answered {status} {error}".strip()[:REASON_LIMIT]
    if status == 200 and said.get("ok") is True:
        return Accepted(f"{said.get('channel', '')}/{said.get('ts', '')}"[:REASON_LIMIT])
    if status == 429 or error in _LATER:
        return Refused(reason, retry_after)
    if error in _OURS or status in (401, 403):
        advice = f"{reason}: {_ADVICE.get(error, _CHECK)}"
        return Refused(advice, destination_down=True)
    if status == 200 and error and error not in _HALF_DONE:
        advice = _ADVICE.get(error, "")
        return Permanent(f"{reason}: {advice}" if advice else reason)
    if 300 <= status < 500 and status != 408:
        return Permanent(reason)
    return Unknown(reason)
