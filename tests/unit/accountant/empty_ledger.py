"""A ledger in which nothing is wrong, and turns on it."""

from dataclasses import dataclass, field
from typing import Any
from unittest.mock import Mock, create_autospec

from services.accountant.settings import AccountantSettings
from services.accountant.turns import Turns
from services.backbone.clock import ManualClock
from services.backbone.ledger.accounting.completeness import Completeness
from services.backbone.ledger.accounting.findings import Findings
from services.backbone.ledger.accounting.overdue import OverdueRows
from services.backbone.ledger.accounting.pruning import Pruning


def answering(asked: type, **answers: Any) -> Mock:
    """Return what gives these answers, by method."""
    made: Mock = create_autospec(asked, instance=True)
    for name, answer in answers.items():
        getattr(made, name).return_value = answer
    return made


def complete() -> Mock:
    return answering(Completeness, missing=set(), still_absent=set(), page=[], absences=[])


def nothing_overdue() -> Mock:
    return answering(OverdueRows, backlogs=[], new_rows=[], settled=[])


def no_findings() -> Mock:
    return answering(Findings, open_findings=[], open_counts={}, raise_new=[])


def nothing_old() -> Mock:
    return answering(Pruning, prune=0)


@dataclass(frozen=True, slots=True)
class EmptyLedger:
    """What turns ask; a test may change the answers."""

    completeness: Mock = field(default_factory=complete)
    overdue: Mock = field(default_factory=nothing_overdue)
    findings: Mock = field(default_factory=no_findings)
    pruning: Mock = field(default_factory=nothing_old)

    def turns(self, settings: AccountantSettings) -> Turns:
        parts = (self.completeness, self.overdue, self.findings, self.pruning)
        return Turns(*parts, settings, ManualClock())
