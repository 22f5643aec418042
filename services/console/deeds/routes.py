"""Who would be told of a made-up alert, and taking over the routes' file."""

from dataclasses import dataclass, field
from typing import Final

from services.backbone.web.client import ApiClient
from services.console.lookout import read
from services.console.people.audit import Audit, Deed
from services.console.people.roles import Person
from services.contracts.lookout import ExplainPage, RoutesPage

MADE_UP: Final = "0" * 32
"""Id of every made-up alert."""


@dataclass(frozen=True)
class MadeUp:
    """What a made-up alert says; `at` is the moment at which it would come, ISO 8601, or empty."""

    watch: str
    severity: str
    labels: dict[str, str] = field(default_factory=dict)
    at: str = ""


def routes_in_use(lookout: ApiClient) -> RoutesPage:
    """Return the routes that the lookout goes by, and what is wrong with a newer file.

    Raises:
        Problem: the lookout does not answer.
    """
    return read(RoutesPage, lookout.ask("GET", "/routes"))


def would_be_told(lookout: ApiClient, made_up: MadeUp, now_ms: int) -> ExplainPage:
    """Return the lookout's word on who would be told, and by which routes; nothing is recorded.

    Raises:
        Problem: the lookout does not take it, or does not answer.
    """
    alert = {
        "alert_id": MADE_UP,
        "watch": made_up.watch,
        "severity": made_up.severity,
        "summary": "made up",
        "key": {"made": "up"},
        "labels": made_up.labels,
        "appended_at_ms": now_ms,
        "detected_at_ms": now_ms,
        "auditor": "a",
    }
    moment = {"at": made_up.at} if made_up.at else {}
    asked = {"alert": alert} | moment
    return read(ExplainPage, lookout.ask("POST", "/routes/explain", asked))


def reload_routes(lookout: ApiClient, audit: Audit, person: Person) -> RoutesPage:
    """Let the lookout take over the routes' file now; return which are in use then.

    Raises:
        Problem: the file is refused, with lines and reasons, or the lookout does not answer.
    """
    told = lookout.ask("POST", "/routes/reload")
    audit.note(person, Deed("reload routes", "routes"))
    return read(RoutesPage, told)
