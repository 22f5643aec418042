"""Runs every declared watch until the stop, and follows the declarations while they change."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from auditor.changes.means import RealMeans
from auditor.changes.opening import opening
from auditor.changes.reload import Reload
from auditor.changes.resumption import prepare_again
from auditor.changes.turn import Turn
from auditor.fleet import Fleet
from auditor.job import Prepare, Scene, own_phase, prepare_all
from auditor.queries.current import all_current, forget, refusal, unreadable
from auditor.queries.declared import Declarations, Declared, read_declarations
from auditor.queries.slots import check_slots
from auditor.settings import AuditorSettings
from services.backbone.clock import Clock
from services.backbone.errors import Refused
from services.backbone.log import logger
from services.backbone.progress import Progress
from services.backbone.service import Life
from services.backbone.settling import Settling
from services.contracts.declarations import digest_of

READY: Final = "watches"
"""Name of the check that says which watches do not run."""
LOOK_EVERY_SECONDS: Final = 0.5
STUCK_AFTER_SECONDS: Final = 300.0
"""Longer than a look at everything takes; a restart of the program is what helps then."""

_LOST: Final = "what ran of it cannot be read, and what is declared has problems: correct the files"

log = logger(__name__)


@dataclass(frozen=True, slots=True)
class Opening:
    """What to run at first, and what is to be followed from there."""

    declarations: Declarations
    first: Mapping[str, Declared]
    ran: frozenset[str]
    """The watches that ran last; without them a rolling update must not go on."""
    lost: frozenset[str] = frozenset()
    """Those of them of which no declaration can be read, neither the one that ran nor a file's."""

    @property
    def fresh(self) -> bool:
        """Whether nothing has run in this folder before: a refusal is best seen at once."""
        return not self.ran

    def gone(self) -> list[str]:
        """Return the watches that ran last, and were removed or paused since."""
        return [name for name in sorted(self.ran) if not self.declarations.may_want(name)]


def read_opening(settings: AuditorSettings) -> Opening:
    """Read what is declared and what ran last; takes no Spark.

    Raises:
        Refused: a file is bad, and nothing ran before; or what ran may not be read.
        Transient: what ran cannot be read now.
    """
    here = settings.checkpoints_here()
    last = all_current(here)
    ran = frozenset(last).union(unreadable(here, last))
    declarations = _read(settings.auditor_streams, settings.auditor_watches, bool(last))
    refused = [name for name, one in declarations.wanted().items() if refusal(here / name, one)]
    first = opening(declarations, last, settings.auditor_shuffle_partitions, refused)
    lost = (name for name in ran.difference(first) if declarations.may_want(name))
    return Opening(declarations, first, ran, frozenset(lost))


def _read(streams: Path, watches: Path, ran: bool) -> Declarations:
    """What cannot be read as a whole ends nothing that ran: all of it is one bad file then."""
    digest = digest_of(streams, watches)
    try:
        return read_declarations(streams, watches)
    except Refused as error:
        if not ran:
            raise
        return Declarations(digest, {}, {"*.yaml": str(error)})


def open_fleet(scene: Scene, prepare: Prepare, opened: Opening) -> Fleet:
    """Prepare the watches to start with, each as declared or as it ran last.

    One that ran before and cannot start is missed. A new one is left to the reload, which has
    Real-time Mode try it first: refused, it is a note and no watch that is missed.

    Raises:
        Refused: nothing ran before and something cannot work.
        Transient: the brokers do not answer, or memory is short.
    """
    if opened.fresh:
        return Fleet(prepare_all(scene, prepare, opened.first.values()))
    # Kept, they would come back with the first file that is bad at a start.
    for name in opened.gone():
        forget(scene.settings.checkpoints_here() / name)
    fleet = Fleet()
    for name in sorted(opened.lost):
        fleet.miss(name, _LOST)
    again = [declared for name, declared in opened.first.items() if name in opened.ran]
    for number, declared in enumerate(again):
        name = declared.name
        try:
            phase = own_phase(scene, number, len(again))
            prepared = prepare_again(scene, prepare, declared, phase)
            needed = {other: one.slots for other, one in fleet.running.items()}
            check_slots(needed | {name: prepared.slots}, scene.settings.auditor_slots)
        except Refused as error:
            log.error("watch_cannot_start", watch=name, reason=str(error))
            fleet.miss(name, str(error))
        else:
            fleet.put(name, prepared)
    return fleet


def watch_until_stop(scene: Scene, life: Life, opened: Opening, fleet: Fleet) -> None:
    """Look after every watch, and take changes, until `life.stop` is set.

    Raises:
        Refused: at the first start of all, Spark does not take a watch.
        Transient: every watch failed too often.
    """
    reload = Reload(scene, RealMeans(scene), fleet, Turn(scene.settings.auditor_checkpoints))
    reload.take(opened.declarations)
    folders = Folders(scene.settings, scene.clock, opened.declarations)
    looked = Progress(scene.clock, STUCK_AFTER_SECONDS)
    life.health.add_live("looks", looked.stalled)
    life.health.add_ready(READY, fleet.not_ready)
    life.health.add_note(READY, fleet.notes)
    life.health.add_note("changes", lambda: folders.problem or reload.notes())
    fresh = opened.fresh
    try:
        while not life.stop.is_set():
            fleet.look()
            fresh = fresh and _still_fresh(fleet)
            if (declarations := folders.changed()) is not None:
                reload.take(declarations)
            reload.look()
            looked.beat()
            life.clock.wait(life.stop, LOOK_EVERY_SECONDS)
    finally:
        reload.stop()


def _still_fresh(fleet: Fleet) -> bool:
    stopped = [one.supervised.stopped for one in fleet.running.values()]
    if reasons := [why for why in stopped if why is not None]:
        raise Refused("; ".join(reasons))
    return fleet.not_ready() is not None


class Folders:
    """Reads the declarations anew when they have changed and settled."""

    def __init__(self, settings: AuditorSettings, clock: Clock, declarations: Declarations) -> None:
        self.problem: str | None = None
        """Why the folders as a whole cannot be used, or None."""
        self._folders = (settings.auditor_streams, settings.auditor_watches)
        delay = settings.auditor_reload_delay_seconds
        self._settling = Settling(self._folders, delay, clock, declarations.digest)

    def changed(self) -> Declarations | None:
        """Return the new reading once it has settled; None while nothing is new."""
        if not self._settling.changed():
            return None
        try:
            declarations = read_declarations(*self._folders)
        except Refused as error:
            self.problem = str(error)
            log.error("declarations_rejected", reason=self.problem)
            return None
        self.problem = None
        log.info("declarations_changed", watches=sorted(declarations.watches))
        return declarations
