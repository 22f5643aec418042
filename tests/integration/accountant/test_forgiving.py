"""What a person has forgiven is not missing any more, is never raised, and is on record."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from services.accountant.__main__ import main
from services.accountant.accounts import (
    MISSING_ALERT,
    OVERDUE_CHANNEL,
    Target,
    compare,
    missing_alerts,
    notices,
)
from services.accountant.forgiving import Word, forgive_all
from services.backbone.errors import Transient
from services.backbone.ledger.accounting.asking import ROWS_LIMIT
from services.backbone.ledger.accounting.completeness import Completeness
from services.backbone.ledger.accounting.findings import Finding, Findings, Notice, Unraised
from services.backbone.ledger.database import Pool, open_pool
from services.backbone.settings import LedgerSettings
from services.contracts.ids import digest
from tests.postgres import database_like

pytestmark = pytest.mark.postgres

KEYS = tuple(digest(f"alert {number}") for number in range(3))
ACTS = st.lists(st.tuples(st.sampled_from(["turn", "forgive"]), st.sampled_from(KEYS)), max_size=12)
DESK = (Target("bus", "notifications"),)


@pytest.fixture(scope="module")
def pool(postgres_url: str, empty_ledger: str) -> Iterator[Pool]:
    with (
        database_like(empty_ledger, postgres_url) as url,
        open_pool(LedgerSettings.model_validate({"postgres_url": url})) as pool,
    ):
        yield pool


def turn(pool: Pool, read: tuple[str, ...]) -> set[str]:
    """Account as the program does; return the subjects that were raised."""
    findings = Findings(pool)
    known = findings.open_findings()
    absent = Completeness(pool).missing([*read, *(each.subject for each in known)])
    changes = compare(known, missing_alerts(absent))
    findings.keep(changes.new, changes.ended)
    raised: set[str] = set()

    def told(found: Sequence[Unraised]) -> list[Notice]:
        raised.update(one.subject for each in found for one in each.named)
        return notices(found, DESK, set(), 1_800_000_000_000)

    findings.raise_new(told, settle_seconds=0, every_seconds=0)
    return raised


@given(ACTS)
@hypothesis_settings(max_examples=25)
def test_nothing_is_raised_after_it_was_forgiven(pool: Pool, acts: list[tuple[str, str]]) -> None:
    """The model: missing alerts that were read and not forgiven, each raised once."""
    with pool.connection() as connection:
        connection.execute("TRUNCATE findings, forgiven, alerts CASCADE")
    findings = Findings(pool)
    found: set[str] = set()
    let_be: set[str] = set()
    raised: set[str] = set()
    for act, key in acts:
        if act == "turn":
            expected = {key} - let_be - raised
            assert turn(pool, (key,)) == expected
            raised |= expected
            found |= {key} - let_be
        else:
            done = findings.forgive([MISSING_ALERT], [key], person="ann", reason="ledger wiped")
            assert done == {key} & found
            let_be |= done
            found -= done
        assert {each.subject for each in findings.open_findings()} == found
    assert {each.subject for each in findings.forgiven(100)} == let_be


def test_the_command_forgives_names_the_unknown_and_keeps_who_and_why(
    ledger_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ALDEBARAN_POSTGRES_URL", ledger_url)
    with open_pool(LedgerSettings.model_validate({"postgres_url": ledger_url})) as pool:
        findings = Findings(pool)
        findings.keep(missing_alerts(set(KEYS)), ())
        because = ["--by", "ann", "--reason", "ledger wiped"]
        assert main(["forgive", KEYS[0], "nonsense", *because]) == 1
        said = capsys.readouterr()
        assert said.out == "1 forgiven\n"
        assert "nonsense: no open finding" in said.err
        assert main(["forgive", "--all", MISSING_ALERT, *because]) == 0
        assert capsys.readouterr().out == "2 forgiven\n"
        assert findings.open_findings() == []
        assert Completeness(pool).missing(KEYS) == set()
    assert main(["forgiven"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert all(line.endswith(" ann: ledger wiped") for line in lines)


def test_all_of_a_kind_are_forgiven_behind_as_many_of_another_as_are_read_at_once(
    ledger_url: str,
) -> None:
    with open_pool(LedgerSettings.model_validate({"postgres_url": ledger_url})) as pool:
        findings = Findings(pool)
        others = [Finding(OVERDUE_CHANNEL, f"c{n}", "", "late") for n in range(ROWS_LIMIT)]
        findings.keep(others, ())
        findings.keep(missing_alerts(set(KEYS)), ())
        assert [*forgive_all(findings, MISSING_ALERT, Word("ann", "ledger wiped"))] == [set(KEYS)]
        assert len(findings.open_findings(OVERDUE_CHANNEL)) == ROWS_LIMIT


def test_what_was_forgiven_before_a_fault_is_told(
    ledger_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ALDEBARAN_POSTGRES_URL", ledger_url)
    with open_pool(LedgerSettings.model_validate({"postgres_url": ledger_url})) as pool:
        Findings(pool).keep(missing_alerts({f"{n:032x}" for n in range(ROWS_LIMIT + 1)}), ())
    done: list[set[str]] = []
    forgive = Findings.forgive

    def once(self: Findings, *arguments: Any, **words: str) -> set[str]:
        if done:
            raise Transient("Postgres: away")
        done.append(forgive(self, *arguments, **words))
        return done[0]

    command = ["forgive", "--all", MISSING_ALERT, "--by", "ann", "--reason", "ledger wiped"]
    with monkeypatch.context() as patch:
        patch.setattr(Findings, "forgive", once)
        assert main(command) == 69
    assert f"{ROWS_LIMIT} forgiven, then: Postgres: away; the same" in capsys.readouterr().err
    assert main(command) == 0
    assert capsys.readouterr().out == "1 forgiven\n"


def test_as_many_of_one_kind_as_are_read_at_once_hide_none_of_another(ledger_url: str) -> None:
    with open_pool(LedgerSettings.model_validate({"postgres_url": ledger_url})) as pool:
        findings = Findings(pool)
        findings.keep(missing_alerts({f"{n:032x}" for n in range(ROWS_LIMIT)}), ())
        late = Finding(OVERDUE_CHANNEL, "sms", "sms", "late")
        for _ in range(2):
            findings.keep([late], ())
            (known,) = [each for each in findings.open_findings() if each.subject == "sms"]
            findings.keep((), [known])
            assert "sms" not in {each.subject for each in findings.open_findings()}


@pytest.mark.parametrize(
    "words",
    [
        ["forgive", "x", "--by", "ann"],
        ["forgive", "x", "--by", " ", "--reason", "y"],
        ["forgive", "--by", "ann", "--reason", "y"],
        ["forgive", "x", "--all", MISSING_ALERT, "--by", "ann", "--reason", "y"],
        ["forgive", "--all", "held", "--by", "ann", "--reason", "y"],
    ],
)
def test_who_and_why_must_be_said_and_only_what_is_missing_can_be_forgiven(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(words)
    assert "usage:" in capsys.readouterr().err
