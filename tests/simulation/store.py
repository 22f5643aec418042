"""Postgres as a server: it carries out statements at one moment each, or is away."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeVar

from services.backbone.errors import Transient
from services.backbone.ledger.alerts.intake import Accepted
from tests.simulation.kernel import START_MS, Died, Kernel, Process
from tests.simulation.memory.tables import Tables
from tests.simulation.plan import Fault, Kind
from tests.simulation.weather import Weather

Answer = TypeVar("Answer")

STATEMENT_SECONDS: Final = 10.0
"""A client waits no longer for an answer; the statement may be carried out even later."""
UNSYNCED_SECONDS: Final = 0.5
"""Marks of the outbox so young are undone when Postgres goes away: no disk was waited for."""
UNSYNCED: Final = frozenset(
    {"accept", "mark", "unpublished", "read", "waiting", "turns", "turns_back"}
)
"""Statements that wait for no disk; every other one takes along to it what was recorded before."""

READING: Final = frozenset(
    {
        *("lost", "standing", "doubtful", "states", "unpublished", "read", "waiting"),
        *("fresh", "next_to_send", "backlog"),
    }
)
"""Statements that can change nothing."""


@dataclass
class Store:
    """The server and its clock."""

    kernel: Kernel
    tables: Tables = field(init=False)
    clock_shift: float = 0.0
    away_until: float = -1.0
    unsynced: list[str] = field(default_factory=list)
    """Alerts that were recorded and are not on the disk."""
    on_step: Callable[[], None] = lambda: None
    """Called after whatever changes the tables, or what of them a crash would leave."""

    def __post_init__(self) -> None:
        self.tables = Tables(self.now)

    def now(self) -> float:
        """Return seconds since 1970 on Postgres' clock."""
        return START_MS / 1000 + self.kernel.now + self.clock_shift

    @property
    def is_away(self) -> bool:
        """Whether nobody is answered."""
        return self.kernel.now < self.away_until

    def synced(self) -> None:
        """Note that a commit has waited for the disk, which has all before it then, too."""
        self.unsynced.clear()
        self.on_step()

    def served(self, statement: str, answer: object) -> None:
        """Note what the disk has after a statement; one that has found nothing wrote nothing."""
        if isinstance(answer, Accepted):
            self.unsynced += answer.new
        elif statement not in UNSYNCED and (answer or answer is None):
            self.unsynced.clear()
        if statement not in READING:
            self.on_step()

    def go_away(self, seconds: float) -> None:
        """Be away for a while; what no disk has is lost."""
        self.away_until = max(self.away_until, self.kernel.now + seconds)
        for alert_id in self.unsynced:
            self.kernel.tell("ledger", f"loses {alert_id[:6]}")
            self.tables.undo(alert_id)
        self.unsynced.clear()
        for row in self.tables.rows.values():
            if row.published_at is not None and row.published_at > self.now() - UNSYNCED_SECONDS:
                row.published_at = None
        self.on_step()


@dataclass(frozen=True)
class Line:
    """One process's way to the store, with all that can happen on it."""

    kernel: Kernel
    process: Process
    store: Store
    weather: Weather

    async def ask(self, name: str, work: Callable[[], Answer]) -> Answer:
        """Have a statement carried out for an asyncio program.

        Raises:
            Transient: no answer came; it may have been carried out, now or later.
        """
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        fault = self.weather.fault(self.process.slot, name)
        if fault is not None:
            self.kernel.tell(self.process.slot, f"{name}: {fault.kind}")
        there, back = self._travel(fault)

        def serve() -> None:
            try:
                self._tell_later(back, partial(_give, answer, self._served(name, fault, work)))
            except Transient as error:
                self._tell_later(back, partial(_fail, answer, error))

        if fault is not None and fault.kind is Kind.CRASH_BEFORE:
            self.kernel.kill(self.process)
        elif there:
            if there > STATEMENT_SECONDS:
                late = Transient(f"{name}: no answer within {STATEMENT_SECONDS:g} s")
                self._tell_later(STATEMENT_SECONDS, partial(_fail, answer, late))
            self.kernel.after(there, serve)
        else:
            serve()
        return await answer

    def ask_now(self, name: str, work: Callable[[], Answer]) -> Answer:
        """Have a statement carried out for a program that blocks meanwhile; everybody else goes on.

        Raises:
            Transient: as in `ask`.
            Died: the process was killed meanwhile.
        """
        fault = self.weather.fault(self.process.slot, name)
        if fault is not None:
            self.kernel.tell(self.process.slot, f"{name}: {fault.kind}")
            if fault.kind is Kind.CRASH_BEFORE:
                self.kernel.kill(self.process)
        there, back = self._travel(fault)
        self.block(there)
        result = self._served(name, fault, work)
        self.block(back if there or fault else 0.0)
        return result

    def block(self, seconds: float) -> None:
        """Let time pass for everybody while this process's thread stands still."""
        if seconds and self.process.alive:
            self.kernel.run(self.kernel.now + seconds)
        while self.process.alive and self.process.stopped:
            self.kernel.run(self.process.resumed_at)
        if not self.process.alive:
            raise Died

    def _travel(self, fault: Fault | None) -> tuple[float, float]:
        there, back = self.weather.there(), self.weather.back()
        if fault is not None and fault.kind is Kind.SLOW:
            there = fault.seconds
        if fault is not None and fault.kind is Kind.SLOW_ANSWER:
            back = fault.seconds
        return there, back

    def _served(self, name: str, fault: Fault | None, work: Callable[[], Answer]) -> Answer:
        kind = fault.kind if fault is not None else None
        if fault is not None and kind is Kind.STORE_DIES_BEFORE:
            self.store.go_away(fault.seconds)
        if self.store.is_away or kind is Kind.NOT_DONE:
            raise Transient("the store is away")
        result = work()
        self.store.served(name, result)
        if fault is not None and kind is Kind.STORE_DIES_AFTER:
            self.store.go_away(fault.seconds)
            raise Transient("the store went away")
        if kind is Kind.CRASH_AFTER:
            self.kernel.kill(self.process)
        if fault is not None and kind is Kind.PAUSE_AFTER:
            self.kernel.stop(self.process, fault.seconds)
        if kind is Kind.ANSWER_LOST:
            raise Transient("the answer was lost")
        return result

    def _tell_later(self, seconds: float, action: Callable[[], None]) -> None:
        self.kernel.after(seconds, action, self.process)


def _give(answer: "asyncio.Future[Answer]", result: Answer) -> None:
    if not answer.done():
        answer.set_result(result)


def _fail(answer: "asyncio.Future[Answer]", error: Transient) -> None:
    if not answer.done():
        answer.set_exception(error)
