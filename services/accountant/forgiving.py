"""`forgive`: a person says that what is missing will stay so; kept with who and why."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from services.accountant import accounts
from services.accountant.report import EXIT_AWAY, EXIT_WRONG
from services.accountant.settings import AccountantSettings
from services.backbone.errors import Transient, Trouble
from services.backbone.ledger.accounting.findings import Findings, Forgiven
from services.backbone.ledger.database import open_pool
from services.backbone.ledger.schema import migrate

FORGIVABLE: Final = (accounts.MISSING_ALERT, accounts.MISSING_RECIPIENT)
"""Only what is missing: what waits is settled where it waits, and ends by itself."""
WORD_LIMIT: Final = 500
LISTED_LIMIT: Final = 1000


@dataclass(frozen=True, slots=True)
class Word:
    """Who forgives, and why."""

    person: str
    reason: str

    def complaint(self) -> str | None:
        """Say what is wrong with it, or None."""
        for name, text in (("--by", self.person), ("--reason", self.reason)):
            if not text.strip() or not text.isprintable():
                return f"{name} must be plain text, and not empty: it is kept for an audit"
            if len(text) > WORD_LIMIT:
                return f"{name} has at most {WORD_LIMIT} characters"
        return None


def forgive(settings: AccountantSettings, subjects: Sequence[str], kind: str, word: Word) -> int:
    """Forgive these subjects, or every open finding of a kind; return the exit code.

    It is 0 if all were open and are forgiven now, 1 if some were not, 69 if Postgres is away.
    """
    done: set[str] = set()
    try:
        migrate(settings)
        with open_pool(settings) as pool:
            findings = Findings(pool)
            parts: Iterable[set[str]] = (
                forgive_all(findings, kind, word)
                if kind
                else [forgive_named(findings, subjects, word)]
            )
            for part in parts:
                done |= part
    except Trouble as error:
        goes_on = "; the same command goes on" if isinstance(error, Transient) else ""
        sys.stderr.write(f"at least {len(done)} forgiven, then: {error}{goes_on}\n")
        return EXIT_AWAY
    sys.stdout.write(f"{len(done)} forgiven\n")
    unknown = sorted(set(subjects) - done)
    for subject in unknown:
        sys.stderr.write(
            f"{subject}: no open finding says that it is missing;"
            " `python -m services.accountant once` tells what is\n"
        )
    return EXIT_WRONG if unknown else 0


def forgive_named(findings: Findings, subjects: Sequence[str], word: Word) -> set[str]:
    """Forgive what is named; return what was open."""
    return findings.forgive(FORGIVABLE, subjects, person=word.person, reason=word.reason)


def forgive_all(findings: Findings, kind: str, word: Word) -> Iterator[set[str]]:
    """Forgive every open finding of a kind, page by page; give the subjects of each."""
    while subjects := [each.subject for each in findings.open_findings(kind)]:
        yield findings.forgive([kind], subjects, person=word.person, reason=word.reason)


def forgiven(settings: AccountantSettings) -> int:
    """Print what was forgiven, by whom and why, the newest first; return the exit code."""
    try:
        migrate(settings)
        with open_pool(settings) as pool:
            found = Findings(pool).forgiven(LISTED_LIMIT)
    except Trouble as error:
        sys.stderr.write(f"cannot be read: {error}\n")
        return EXIT_AWAY
    sys.stdout.write("".join(f"{line(each)}\n" for each in found))
    return 0


def line(each: Forgiven) -> str:
    """Return one forgiven thing as a line."""
    return f"{each.at:%Y-%m-%d %H:%M:%S%z} {each.kind} {each.subject} {each.person}: {each.reason}"
