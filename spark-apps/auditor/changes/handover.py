"""The one change that is under way: its watch passes to a new query, stage by stage."""

from functools import partial

from auditor.changes.asked import Asked
from auditor.changes.candidate import Candidate
from auditor.changes.change import Change, Kind
from auditor.changes.goal import Goal
from auditor.changes.groundwork import prepare_step
from auditor.changes.means import Means
from auditor.changes.proof import Proof, Verdict
from auditor.changes.untaken import Untaken
from auditor.fleet import Fleet, Running
from auditor.job import Scene
from auditor.queries.declared import Declared
from services.backbone.log import logger

log = logger(__name__)


class Handover:
    """Takes one step at a time, which Spark may be asked about before, and stays until it is over.

    A changed rule is a candidate until it has caught up beside the old one. Where a query was
    stopped for another, it stays until that is proven to judge.
    """

    def __init__(self, scene: Scene, means: Means, fleet: Fleet, untaken: Untaken) -> None:
        self.stage: Asked | Candidate | Proof | None = None
        """What is under way; None while nothing is."""
        self._scene = scene
        self._means = means
        self._fleet = fleet
        self._untaken = untaken

    def is_changing(self, watch: str) -> bool:
        """Tell whether a step of this watch is under way, which `go_on` breaks off first."""
        return isinstance(self.stage, Asked | Candidate) and self.stage.watch == watch

    def begin(self, step: Change, declared: Declared) -> None:
        """Take this step unless something is found against it, by Spark too where it is asked."""
        prepare = self._means.prepare
        work = partial(prepare_step, self._scene, self._fleet, step, declared, prepare)
        if (ready := self._untaken.judge(step.watch, work)) is None:
            return
        step, prepared = ready
        if step.kind.needs_trial:
            self.stage = Asked(self._means, step, prepared, self._now())
        else:
            self._take(step, prepared)

    def go_on(self, goal: Goal) -> None:
        """Do what is due now; give up what is not wanted any more.

        Raises:
            Transient: brokers or disk do not answer.
            Refused: a topic is gone.
            Ended: Spark's answer or the end of a query cannot be waited for.
        """
        match self.stage:
            case Asked() as asked:
                self._follow(asked, goal)
            case Candidate() as candidate:
                self._compare(candidate, goal)
            case Proof() as proof:
                # The turn is kept until then: else another auditor's query would stop meanwhile.
                self.stage = proof if proof.verdict() is Verdict.WAIT else None

    def let_go(self, watch: str) -> None:
        """Prove no more that the query of this watch judges, as it has ended."""
        if isinstance(self.stage, Proof) and self.stage.watch == watch:
            self.stage.end()
            self.stage = None

    def prove_instead(self, running: Running) -> None:
        """Prove that this query judges, where the one before it was to be proven."""
        if isinstance(self.stage, Proof) and self.stage.watch == running.declared.name:
            self.stage.end()
            self.stage = Proof(self._scene, running, self._means.listen())

    def end(self) -> None:
        """End what is under way, the query that has not caught up among it."""
        if self.stage is not None:
            self.stage.end()

    def _follow(self, asked: Asked, goal: Goal) -> None:
        """Take the step once Spark has taken it, unless something else is declared by now."""
        wanted = goal.wants(asked.prepared.declared)
        if not wanted:
            asked.break_off()
        if not asked.is_over(self._now()):
            return
        self.stage = None
        if wanted and (taken := self._untaken.judge(asked.watch, asked.taken)) is not None:
            self._take(asked.step, taken)

    def _take(self, step: Change, prepared: Running) -> None:
        log.info("change_begins", watch=step.watch, kind=step.kind.value)
        self._untaken.begin(step.watch)
        match step.kind:
            case Kind.START | Kind.RESUME:
                self._start(prepared)
            case Kind.CONTINUE:
                # Another auditor covers the moment.
                self._fleet.take(step.watch).supervised.stop()
                self._start(prepared)
                self.stage = Proof(self._scene, prepared, self._means.listen())
            case Kind.REPLACE:
                self.stage = self._means.compare(prepared)

    def _start(self, prepared: Running) -> None:
        self._fleet.put(prepared.declared.name, prepared)
        self._untaken.settle(prepared.declared.name)
        log.info("change_done", watch=prepared.declared.name)

    def _compare(self, candidate: Candidate, goal: Goal) -> None:
        supervised = candidate.running.supervised
        if not goal.wants(candidate.running.declared):
            if supervised.comes_to_rest():
                self._drop(candidate)
            return
        candidate.look()
        if (why := supervised.stopped) is not None:
            self._drop(candidate)
            self._untaken.reject(candidate.watch, why)
        elif (why := supervised.record.failing) is not None and supervised.comes_to_rest():
            self._drop(candidate)
            self._untaken.postpone(candidate.watch, why, lasting=True)
        elif candidate.caught_up and self._fleet.comes_to_rest(candidate.watch):
            self._promote(candidate)

    def _drop(self, candidate: Candidate) -> None:
        self.stage = None
        candidate.end()
        candidate.show_no_more()

    def _promote(self, candidate: Candidate) -> None:
        old = self._fleet.running[candidate.watch]
        candidate.take_name()
        self._start(candidate.running)
        old.supervised.stop()
        self.stage = None
        candidate.show_no_more()
        self._untaken.try_all_again()

    def _now(self) -> float:
        return self._scene.clock.monotonic_seconds()
