"""`once`: the whole account, now, for people and scripts; reads topic `alerts` from its start."""

import sys
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Final

from services.accountant import accounts
from services.accountant.aside import REJECTED, keys
from services.accountant.comparing import BATCH_LIMIT, findings, key_of
from services.accountant.program import PROGRAM, topic_admin
from services.accountant.retention import Retention
from services.accountant.settings import AccountantSettings
from services.backbone.clock import Clock, SystemClock
from services.backbone.errors import Transient, Trouble
from services.backbone.kafka.consumer import Consumer, Incoming
from services.backbone.ledger.accounting.asking import ROWS_LIMIT
from services.backbone.ledger.accounting.completeness import (
    TOTALS_LIMIT,
    Completeness,
    Place,
    Totals,
)
from services.backbone.ledger.accounting.findings import Finding
from services.backbone.ledger.accounting.overdue import OverdueRows
from services.backbone.ledger.database import open_pool
from services.backbone.ledger.schema import migrate
from services.backbone.lines import harmless, tell_text
from services.backbone.log import set_up_logging
from services.contracts import topics

SILENCE_SECONDS: Final = 3.0
"""After so long without a record the brokers are asked anew what they hold."""
STANDSTILL_SECONDS: Final = 60.0
"""Whoever gets nothing for so long, and is not at the end, gives up."""
ASK_TIMEOUT_SECONDS: Final = 10.0
LISTED_LIMIT: Final = 50
EXIT_WRONG: Final = 1
EXIT_AWAY: Final = 69


@dataclass
class Account:
    """What was found by one whole reading."""

    read: int = 0
    totals: Totals = field(default_factory=Totals)
    missing: list[Finding] = field(default_factory=list)
    overdue: list[Finding] = field(default_factory=list)
    unlisted: int = 0
    """So many more are overdue, of which only the number is known."""


def once(settings: AccountantSettings) -> int:
    """Print the account; return 0 if all is told or rightly open, 1 if something is missing or
    overdue, 69 if Postgres or Kafka is away. What is logged meanwhile goes to standard error.
    """
    set_up_logging(PROGRAM, settings)
    try:
        account = _account(settings, SystemClock())
    except Trouble as error:
        sys.stderr.write(f"cannot account: {error}\n")
        return EXIT_AWAY
    tell_text(sys.stdout, table(account))
    return EXIT_WRONG if account.missing or account.overdue else 0


def table(account: Account) -> str:
    """Return the account as lines of text; what others wrote is on its line."""
    counted = Counter(each.kind for each in account.missing)
    rows = [
        ("records on topic alerts", account.read),
        ("alerts in the ledger", account.totals.alerts),
        ("recipients", account.totals.recipients),
        ("  terminal", account.totals.terminal),
        ("  open", account.totals.open),
        ("alerts missing", counted[accounts.MISSING_ALERT]),
        ("recipients missing", counted[accounts.MISSING_RECIPIENT]),
        ("overdue", len(account.overdue) + account.unlisted),
    ]
    wrong = [*account.missing, *account.overdue]
    lines = [f"{name:26}{number:>10}" for name, number in rows]
    lines += [
        harmless(f"{each.kind} {each.subject}: {each.detail}") for each in wrong[:LISTED_LIMIT]
    ]
    if (more := len(wrong) + account.unlisted - LISTED_LIMIT) > 0:
        lines.append(f"and {more} more")
    return "\n".join(lines)


def _account(settings: AccountantSettings, clock: Clock) -> Account:
    kept = Retention(settings, topic_admin(settings)).found()
    migrate(settings)
    account, window = Account(), settings.window_seconds
    with open_pool(settings) as pool, closing(_consumer(settings, REJECTED)) as aside:
        completeness, overdue = Completeness(pool), OverdueRows(pool)
        with closing(_consumer(settings, topics.ALERTS)) as alerts:
            for rejected in everything(aside, clock):
                completeness.keep_aside(keys(rejected))
            for batch in everything(alerts, clock):
                account.read += len(batch)
                old_ms = clock.now_ms() - settings.accountant_behind_seconds * 1000
                old = [key_of(each) for each in batch if each.timestamp_ms <= old_ms]
                account.missing += findings(completeness, old)
        account.missing += _absences(completeness, settings, window)
        account.missing = list({each.subject: each for each in account.missing}.values())
        backlogs = overdue.backlogs(settings.accountant_due_seconds)
        account.overdue += accounts.overdue_channels(backlogs)
        account.overdue += kept
        limits = settings.limits.by_kind
        rows = overdue.open_rows(window, limits)
        account.overdue += accounts.overdue(rows)
        account.unlisted = max(0, overdue.count_open_rows(window, limits) - len(rows))
        account.totals = all_counted(completeness, window)
    return account


def _absences(
    completeness: Completeness, settings: AccountantSettings, window: float
) -> list[Finding]:
    found: list[Finding] = []
    for page in _pages(completeness, window, settings.accountant_behind_seconds):
        found += accounts.missing_recipients(completeness.absences(page))
    return found


def all_counted(completeness: Completeness, window: float) -> Totals:
    """Count what was accepted within so many seconds, some alerts at a time: a week of them
    outlasts a statement.
    """
    totals = Totals()
    for page in _pages(completeness, window, 0.0):
        for start in range(0, len(page), TOTALS_LIMIT):
            totals += completeness.totals(page[start : start + TOTALS_LIMIT])
    return totals


def _pages(
    completeness: Completeness, since_seconds: float, until_seconds: float
) -> Iterator[list[str]]:
    """Yield the alerts accepted between two ages; not for ever, however fast more come."""
    place, is_full = Place(), True
    while is_full:
        page = completeness.page(place, since_seconds=since_seconds, until_seconds=until_seconds)
        if page:
            place = page[-1]
            yield [each.alert_id for each in page]
        is_full = len(page) == ROWS_LIMIT


def _consumer(settings: AccountantSettings, topic: str) -> Consumer:
    group = f"{settings.accountant_group}-once-{uuid.uuid4().hex}"
    return Consumer(settings, PROGRAM, group=group, topics=[topic])


def everything(consumer: Consumer, clock: Clock) -> Iterable[Sequence[Incoming]]:
    """Give what a topic holds now, and little of what comes meanwhile.

    Raises:
        Transient: the brokers do not give it.
    """
    limit = clock.monotonic_seconds() + STANDSTILL_SECONDS
    while not consumer.assigned() and clock.monotonic_seconds() < limit:
        if batch := consumer.batch(BATCH_LIMIT, 0.2):
            yield batch
            limit = clock.monotonic_seconds() + STANDSTILL_SECONDS
    ends = consumer.ends(ASK_TIMEOUT_SECONDS)
    while not consumer.has_passed(ends, from_start=True):
        if batch := consumer.batch(BATCH_LIMIT, SILENCE_SECONDS):
            yield batch
            limit = clock.monotonic_seconds() + STANDSTILL_SECONDS
        elif clock.monotonic_seconds() > limit:
            raise Transient(f"nothing came for {STANDSTILL_SECONDS:g} s, before the topic's end")
        else:
            held = consumer.ends(ASK_TIMEOUT_SECONDS)
            # What retention has removed meanwhile never comes.
            ends = {place: end for place, end in ends.items() if place in held}
