"""Known bugs, planted one at a time: the simulator must find each of them.

A mutant replaces one piece of the code under test, or of the ledger's statements, by one that has
a mistake which somebody could make.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, Final
from unittest.mock import patch

from services.backbone.errors import Transient
from services.backbone.kafka.consumer import Incoming
from services.backbone.ledger.deliveries.claims import Claim, Due, Settlement
from services.backbone.ledger.deliveries.evidence import Evidence
from services.backbone.ledger.deliveries.look_ups import Question
from services.backbone.ledger.deliveries.sweeps import Swept
from services.backbone.loop import ConsumerLoop
from services.contracts.states import State
from services.deliverer import dispatcher, reconciler, recorder, sending, sweeper
from services.deliverer.channel import Absent, Finding, SendWindow, Unclear
from services.deliverer.decision import Verdict, decide, decide_doubt
from services.deliverer.in_flight import InFlight
from services.deliverer.outcomes import Permanent, Refused, Unknown
from services.lookout.intake import pipeline
from services.lookout.intake.repeats import SettledAlerts
from services.lookout.outbox import relay
from tests.simulation import deliverers
from tests.simulation.healing_mutants import HEALING_MUTANTS
from tests.simulation.keeper_mutants import KEEPER_MUTANTS
from tests.simulation.ledger import LineClaims
from tests.simulation.memory import evidence
from tests.simulation.memory.claims import MemoryClaims
from tests.simulation.memory.sweeps import MemorySweeps
from tests.simulation.memory.tables import Row

Planted = AbstractContextManager[Any]


def _settles_without_fence() -> Planted:
    real = MemoryClaims.settle

    def settle(self: MemoryClaims, settlements: Sequence[Settlement]) -> dict[str, State]:
        before: dict[str, State] = {}
        for each in settlements:
            row = self.tables.rows[each.delivery_id]
            mine = replace(self, owner=row.owner or "")
            before |= real(mine, [replace(each, fence=row.fence)])
        return before

    return patch.object(MemoryClaims, "settle", settle)


def _lease_over_means_again() -> Planted:
    real = MemorySweeps._moved  # noqa: SLF001 - the mutant changes one value inside

    def moved(
        self: MemorySweeps,
        fits: Callable[[Row], bool],
        after: State,
        reason: str,
        states: Sequence[State] = (State.CLAIMED,),
    ) -> list[Swept]:
        after = State.RETRY_WAIT if after is State.IN_DOUBT else after
        return real(self, fits, after, reason, states)

    return patch.object(MemorySweeps, "_moved", moved)


def _sends_before_the_claim_is_committed() -> Planted:
    async def due(self: LineClaims, due: Due) -> list[Claim]:
        line, memory = self._line, self.memory
        tables = memory.tables
        rows = {key: replace(row) for key, row in tables.rows.items()}
        copy = replace(tables, rows=rows, attempts={}, on_move=lambda row, path: None)
        claimed = replace(memory, tables=copy).due(due)
        line.kernel.after(0.02, lambda: memory.by_id([c.delivery_id for c in claimed], due.limit))
        return claimed

    return patch.object(LineClaims, "due", due)


def _relay_forgets() -> Planted:
    return patch.object(relay.Relay, "sweep", lambda self, older_than_seconds: 0)


def _unknown_means_again() -> Planted:
    def wrong(outcome: Any, *rest: Any) -> Verdict:
        if isinstance(outcome, Unknown):
            outcome = Refused(outcome.reason)
        return decide(outcome, *rest)

    return patch.object(sending, "decide", wrong)


def _refused_counts_as_sent() -> Planted:
    def wrong(outcome: Any, *rest: Any) -> Verdict:
        verdict = decide(outcome, *rest)
        return replace(verdict, path=(State.SENT,)) if isinstance(outcome, Refused) else verdict

    return patch.object(sending, "decide", wrong)


def _permanent_counts_as_sent() -> Planted:
    def wrong(outcome: Any, *rest: Any) -> Verdict:
        verdict = decide(outcome, *rest)
        return replace(verdict, path=(State.SENT,)) if isinstance(outcome, Permanent) else verdict

    return patch.object(sending, "decide", wrong)


def _window_is_not_checked() -> Planted:
    def opened(self: SendWindow) -> None:
        self.opened_at_ms = 1

    return patch.object(SendWindow, "open", opened)


def _timeout_means_not_taken() -> Planted:
    return patch.object(sending, "_cut_off", lambda window, reason: Refused(reason))


def _gives_back_what_is_in_flight() -> Planted:
    return patch.multiple(InFlight, ids=lambda _: [], never_had=lambda _, found: list(found))


def _repeats_without_the_mark() -> Planted:
    def wrong(*terms: Any) -> Verdict:
        return replace(decide_doubt(*terms), marked_repeat=False)

    return patch.object(sweeper, "decide_doubt", wrong)


def _repeats_again_and_again() -> Planted:
    def wrong(severity: Any, attempt: int, repeated: bool, policy: Any) -> Verdict:
        return decide_doubt(severity, attempt, False, policy)

    return patch.object(sweeper, "decide_doubt", wrong)


def _commits_before_it_has_settled() -> Planted:
    def run(self: ConsumerLoop[Any]) -> None:
        batch: Sequence[Incoming] = self.consumer.batch(self.batch_limit, self.poll_seconds)
        self.consumer.commit(batch)
        if batch:
            self._done(partial(self._settle, batch))

    return patch.object(ConsumerLoop, "run", run)


def no_end_is_remembered() -> Planted:
    """Let a claim that has ended here pass for one whose answer never came."""

    def end(self: InFlight, claim: Claim) -> None:
        del self.sends[claim.delivery_id, claim.fence]

    return patch.object(InFlight, "end", end)


@contextmanager
def _gives_up_when_the_store_is_away() -> Iterator[None]:
    async def settled(self: recorder.Recorder, batch: list[Settlement]) -> dict[str, State]:
        try:
            return await self.claims.settle(batch)
        except Transient:
            return {}

    with patch.object(recorder.Recorder, "_settled", settled), no_end_is_remembered():
        yield


def _owner_keeps_its_name() -> Planted:
    return patch.object(deliverers, "owner_name", lambda slot, run: slot)


def _fence_stands_still() -> Planted:
    real = MemoryClaims._claim  # noqa: SLF001 - the mutant changes one value inside

    def claim(self: MemoryClaims, row: Row, now: float) -> Claim:
        made = real(self, row, now)
        row.fence = 1
        return replace(made, fence=1)

    return patch.object(MemoryClaims, "_claim", claim)


def _trusts_the_topic_alone() -> Planted:
    async def nothing(self: dispatcher.Dispatcher) -> None:
        return None

    return patch.object(dispatcher.Dispatcher, "_claim_due", nothing)


def _forgets_left_overs_of_repeats() -> Planted:
    def sieve(self: pipeline.Lookout, batch: Sequence[pipeline.Arrival]) -> dict[str, Any]:
        arrivals = {each.alert.alert_id: each for each in batch}
        fresh = {key: each for key, each in arrivals.items() if key not in self.settled}
        self.settled.add(fresh)
        return fresh

    return patch.object(pipeline.Lookout, "drop_repeats", sieve)


def _claims_for_each_time_it_is_told() -> Planted:
    real = MemoryClaims.by_id

    def by_id(
        self: MemoryClaims, delivery_ids: Sequence[str], limit: int, characters: int
    ) -> list[Claim]:
        claims = {each.delivery_id: each for each in real(self, delivery_ids, limit, characters)}
        return [claims[each] for each in delivery_ids if each in claims]

    return patch.object(MemoryClaims, "by_id", by_id)


def _does_not_wait_for_its_time() -> Planted:
    real = MemoryClaims._is_due  # noqa: SLF001 - the mutant changes one value inside

    def is_due(self: MemoryClaims, row: Row, now: float) -> bool:
        return real(self, replace(row, next_attempt_at=now), now)

    return patch.object(MemoryClaims, "_is_due", is_due)


def _unclear_counts_as_absent() -> Planted:
    real = reconciler.evidence_of

    def wrong(finding: Finding, question: Question) -> Evidence | None:
        absent = Absent(finding.detail) if isinstance(finding, Unclear) else finding
        return real(absent, question)

    return patch.object(reconciler, "evidence_of", wrong)


def _evidence_passes_over_repeats_that_wait() -> Planted:
    weighed = [state for state in evidence.WEIGHED_IN if state is not State.RETRY_WAIT]
    return patch.object(evidence, "WEIGHED_IN", weighed)


def _trusts_postgres_to_lose_nothing() -> Planted:
    return patch.object(pipeline.Lookout, "secure", lambda self: None)


def _remembers_what_is_lost() -> Planted:
    return patch.object(SettledAlerts, "clear", lambda self: None)


MUTANTS: Final[dict[str, Callable[[], Planted]]] = {
    "settle does not check fence and owner": _settles_without_fence,
    "a lease that is over means: send again": _lease_over_means_again,
    "sends before the claim is committed": _sends_before_the_claim_is_committed,
    "the relay forgets": _relay_forgets,
    "an unknown outcome means: send again": _unknown_means_again,
    "a refusal counts as sent": _refused_counts_as_sent,
    "a refusal for good counts as sent": _permanent_counts_as_sent,
    "the send window is not checked": _window_is_not_checked,
    "a timeout counts as not taken": _timeout_means_not_taken,
    "own claims are given back while in flight": _gives_back_what_is_in_flight,
    "a doubt is repeated without the mark": _repeats_without_the_mark,
    "a doubt is repeated again and again": _repeats_again_and_again,
    "offsets are committed before the step": _commits_before_it_has_settled,
    "an outcome is dropped while the store is away": _gives_up_when_the_store_is_away,
    "an owner keeps its name over a restart": _owner_keeps_its_name,
    "the fence stands still": _fence_stands_still,
    "the topic alone is trusted": _trusts_the_topic_alone,
    "told twice in one batch is claimed twice": _claims_for_each_time_it_is_told,
    "a retry does not wait for its time": _does_not_wait_for_its_time,
    "a look-up that cannot say counts as absent": _unclear_counts_as_absent,
    "evidence passes over a repeat that waits": _evidence_passes_over_repeats_that_wait,
    "an alert counts as settled before it is": _forgets_left_overs_of_repeats,
    "an alert is committed before the disk has it": _trusts_postgres_to_lose_nothing,
    "an alert counts as settled after a crash has undone it": _remembers_what_is_lost,
    **HEALING_MUTANTS,
    **KEEPER_MUTANTS,
}
"""Each by a sentence that says what is wrong."""


@contextmanager
def planted(name: str) -> Iterator[None]:
    """Have one of the mutants in the code while this lasts."""
    with MUTANTS[name]():
        yield
