"""Holds one step against streams, brokers and slots before anything stops for it."""

from functools import partial

from auditor.batches.stagger import Phase
from auditor.changes.change import Change, Kind
from auditor.changes.resumption import check_rows, has_run, prepare_again
from auditor.fleet import Fleet, Running
from auditor.job import Prepare, Scene, free_phase
from auditor.queries.declared import Declared
from auditor.queries.slots import check_slots, with_another


def prepare_step(
    scene: Scene, fleet: Fleet, step: Change, declared: Declared, prepare: Prepare
) -> tuple[Change, Running]:
    """Return the step as it has to be done, and its query, not yet started.

    Raises:
        Refused: something cannot work; the message says what to do.
        Transient: the brokers do not answer, or memory is short.
    """
    step = _as_it_ran(scene, fleet, step, declared)
    if step.kind is Kind.CONTINUE:
        check_rows(scene, declared)
    if step.kind is Kind.RESUME:
        prepare = partial(prepare_again, scene, prepare)
    prepared = prepare(declared, _phase(scene, fleet, step.watch))
    if step.kind is not Kind.CONTINUE:
        needed = {name: one.slots for name, one in fleet.running.items()}
        together = with_another(needed, declared.name, prepared.slots)
        check_slots(together, scene.settings.auditor_slots)
    return step, prepared


def _phase(scene: Scene, fleet: Fleet, watch: str) -> Phase:
    """A changed watch keeps its phase; a new one takes one that is free."""
    if watch in fleet.running:
        return fleet.running[watch].phase
    return free_phase(scene, (one.phase for one in fleet.running.values()))


def _as_it_ran(scene: Scene, fleet: Fleet, step: Change, declared: Declared) -> Change:
    """What could not start with the auditor starts as it would have then, on the same state."""
    is_missing = step.kind is Kind.START and step.watch in fleet.missing
    goes_on = is_missing and has_run(scene, declared)
    return Change(Kind.RESUME, step.watch) if goes_on else step
