"""What the lookout has made stands in the audit log, whatever else its answer says."""

from typing import Any

import httpx2
import pytest

from services.backbone.web.problems import Problem
from services.console.deeds.silences import Deeds, Quiet
from services.console.lookout import lookout_client
from services.console.people.audit import Deed
from services.console.people.roles import Person, Role

ANN = Person("ann", Role.RESPONDER, "page")
QUIET = Quiet(match={"watch": "cpu"}, lasts="1h", reason="works")


class Noted:
    """Keeps what was noted."""

    def __init__(self) -> None:
        self.deeds: list[Deed] = []

    def note(self, person: Person, deed: Deed) -> bool:
        self.deeds.append(deed)
        return True


def silence(audit: Noted, told: dict[str, str]) -> None:
    """Make a silence at a lookout that answers so."""
    transport = httpx2.MockTransport(lambda _: httpx2.Response(201, json=told))
    noted: Any = audit
    Deeds(lookout_client("http://lookout", "key", transport), noted).silence(ANN, QUIET, "k1")


def test_a_silence_of_a_lookout_of_before_is_noted() -> None:
    audit = Noted()
    with pytest.raises(Problem, match="not understood"):
        silence(audit, {"silence_id": "0" * 32})
    assert [each.subject for each in audit.deeds] == [f"silence {'0' * 32}"]


def test_an_answer_of_another_program_is_no_silence() -> None:
    audit = Noted()
    with pytest.raises(Problem, match="not understood"):
        silence(audit, {"status": "ok"})
    assert not audit.deeds
