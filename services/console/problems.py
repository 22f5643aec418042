"""What went wrong with a request, as RFC 9457 problem details or as a page."""

from services.backbone.errors import Transient

PROBLEM_TYPE = "application/problem+json"


class Problem(Exception):
    """A request that gets no answer; `reason` is a short word, `detail` a sentence."""

    def __init__(self, status: int, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.status = status
        self.reason = reason
        self.detail = detail

    def body(self) -> dict[str, object]:
        """Return the problem details."""
        return {"title": self.reason, "status": self.status, "detail": self.detail}

    def headers(self) -> dict[str, str]:
        """Return the headers that go with it."""
        return {"Retry-After": "2"} if self.status == 503 else {}


def no_such_alert(alert_id: str) -> Problem:
    """Return 404 for an alert that is not in the ledger."""
    return Problem(404, "no_such_alert", f"the ledger has no alert {alert_id[:64]}")


def ledger_away(error: Transient) -> Problem:
    """Return 503 while Postgres does not answer; nothing about its address is told."""
    del error  # it may name hosts and users, which belong into the log only
    return Problem(503, "ledger_away", "the ledger does not answer; try again in a moment")
