"""What Twilio's list of messages says about a doubt: a pure judgement of what was listed."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from services.contracts.twilio import Fate, body_code, fate, told
from services.deliverer.channel import Absent, Doubt, Finding, Taken, Unclear, Undelivered

LISTED_LIMIT: Final = 1000
"""Messages of one recipient that a look-up reads at most."""
PAGE_SIZE: Final = 200
_CLOCKS_APART_MS: Final = 120_000
"""How far Twilio's clock and ours may be apart, with its times in whole seconds."""
_LEASES_LAST_SECONDS: Final = (60.0, 600.0, 3600.0)


@dataclass(frozen=True, slots=True)
class Listed:
    """One message of the list; `created_at_ms` is None if Twilio does not say it."""

    sid: str
    body: str
    status: str
    created_at_ms: int | None
    error_code: str = ""


@dataclass(frozen=True, slots=True)
class Absence:
    """When a message that is not listed counts as not taken, and never will be."""

    proof_seconds: float
    """How late the list may be, as whoever runs this has decided."""
    validity_seconds: int

    @property
    def seconds(self) -> float:
        """Counted from the end of the lease."""
        return max(self.proof_seconds, self.validity_seconds)

    @property
    def look_up_after_seconds(self) -> tuple[float, ...]:
        """When to look, from the beginning of the doubt: a lease may end some time after that."""
        return tuple(self.seconds + more for more in _LEASES_LAST_SECONDS)


def listed(messages: Iterable[Any]) -> Iterator[Listed]:
    """Return the library's messages, page by page as they are asked for."""
    for each in messages:
        created = each.date_created
        yield Listed(
            sid=each.sid or "",
            body=each.body or "",
            status=each.status or "",
            created_at_ms=None if created is None else int(created.timestamp() * 1000),
            error_code="" if each.error_code is None else str(each.error_code),
        )


def judge(
    doubt: Doubt, messages: Iterable[Listed], now_ms: int, absence: Absence | None
) -> Finding:
    """Look for the delivery's code among messages that are not older than the try."""
    code = body_code(doubt.delivery.delivery_id)
    seen = 0
    for each in messages:
        seen += 1
        if code in each.body and _is_of(each, doubt):
            return _finding(each)
    if seen >= LISTED_LIMIT:
        return Unclear(f"not among the recipient's last {LISTED_LIMIT} messages")
    if absence is None:
        return Unclear("not listed, which proves nothing")
    if now_ms < doubt.lease_over_at_ms + absence.seconds * 1000:
        return Unclear("not listed yet")
    return Absent(f"not listed {absence.seconds:g} s after its lease, as sms_absence_seconds asks")


def _is_of(listed: Listed, doubt: Doubt) -> bool:
    if listed.created_at_ms is None:
        return True
    return listed.created_at_ms >= doubt.claimed_at_ms - _CLOCKS_APART_MS


def _finding(listed: Listed) -> Finding:
    said = told(listed.status, listed.error_code)
    found = Undelivered if fate(listed.status) is Fate.LOST else Taken
    return found(listed.sid, f"listed as {listed.sid}: {said}")
