"""One auditor whose declarations change, on queries that do as they are told: no Spark."""

import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from auditor.batches.stagger import Phase
from auditor.changes.asked import Asked
from auditor.changes.candidate import Candidate
from auditor.changes.reload import Reload
from auditor.changes.turn import Turn
from auditor.checkpoints.checkpoint import Checkpoint, fingerprint
from auditor.fleet import Fleet, Running
from auditor.job import Scene as JobScene
from auditor.queries.declared import Declarations, Declared, read_declarations
from auditor.settings import AuditorSettings
from auditor.watching import open_fleet, read_opening
from services.backbone.clock import ManualClock
from services.backbone.errors import Transient
from services.contracts.records import Alert, Severity
from services.contracts.streams import SHIPPED_STREAMS
from services.contracts.watches import SHIPPED_WATCHES
from tests.unit.auditor.fakes import PATIENCE_SECONDS, Scene

SLOTS_EACH = 5
WATCH, OTHER = "over-purchase", "unusual-volume"


class FakeCandidate(Candidate):
    """Catches up when it is told."""

    def __init__(self, world: "World", running: Running) -> None:
        super().__init__(world.scene, running)
        self._world = world

    def look(self) -> None:
        if self._world.gone:
            raise self._world.gone
        self.running.supervised.look()


class FakeAnswers:
    """What auditors answer to heartbeats, as told by the world at each look."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self.is_closed = False

    def fresh(self) -> list[bytes]:
        now_ms = self._world.clock.now_ms()
        return [
            answer(auditor, watch, now_ms)
            for auditor in self._world.answering
            for watch in self._world.fleet.running
        ]

    def close(self) -> None:
        self.is_closed = True


def answer(auditor: str, watch: str, appended_at_ms: int) -> bytes:
    """Return an auditor's answer to a heartbeat."""
    return Alert(
        alert_id="a" * 32,
        watch=watch,
        severity=Severity.INFO,
        summary="s",
        key={"order_id": "~beat-1"},
        appended_at_ms=appended_at_ms,
        detected_at_ms=appended_at_ms,
        auditor=auditor,
    ).encode()


class World:
    """One auditor without Spark: its files, its queries, and its partner's turn.

    Its changes are made by the means that stand here.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.clock = folder, ManualClock()
        self.watches = folder / "watches"
        self.watches.mkdir()
        for path in SHIPPED_WATCHES.glob("*.yaml"):
            (self.watches / path.name).write_text(path.read_text())
        self.made: list[tuple[Declared, Scene]] = []
        self.slots: dict[str, int] = {}
        self.refusal: Exception | None = None
        """What each query that is made from now on is started with."""
        self.against: Callable[[Declared], Exception | None] = lambda _: None
        """What is found to be wrong with a watch that is prepared."""
        self.scrutiny: Exception | None = None
        self.judgement: Exception | None = None
        self.heartbeats: Exception | None = None
        """What is found to be wrong with heartbeats."""
        self.gone: Exception | None = None
        """Why a candidate cannot be compared now."""
        self.may_judge = threading.Event()
        """A trial takes until this is set, as it is at first, or until it is broken off."""
        self.may_judge.set()
        self.settings = AuditorSettings(
            auditor_streams=SHIPPED_STREAMS,
            auditor_watches=self.watches,
            auditor_checkpoints=folder / "kept",
            auditor_slots=15,
        )
        self.answering = [self.settings.auditor_id]
        """The auditors whose queries answer to a heartbeat that comes at each look."""
        self.listening: list[FakeAnswers] = []
        self.scene = JobScene(None, self.settings, self.clock)  # type: ignore[arg-type] # no Spark
        self.partner = Turn(self.settings.auditor_checkpoints)
        self.fleet = Fleet()
        self.reload = self.reloading()
        self.turns(self.read())

    def restart(self) -> None:
        """End this auditor, and begin another one over what it has kept."""
        self.reload.stop()
        self.fleet.stop()
        opened = read_opening(self.settings)
        self.fleet = open_fleet(self.scene, self.prepare, opened)
        self.reload = self.reloading()
        self.turns(opened.declarations)

    def reloading(self) -> Reload:
        """Return what takes changes from now on."""
        turn = Turn(self.settings.auditor_checkpoints)
        return Reload(self.scene, self, self.fleet, turn)

    def prepare(self, declared: Declared, phase: Phase) -> Running:
        if (reason := self.against(declared)) is not None:
            raise reason
        scene = Scene(declared.name, clock=self.clock)
        scene.refusal = self.refusal
        self.made.append((declared, scene))
        wanted = fingerprint(declared.watch, declared.streams, 2)
        home = self.settings.checkpoints_here() / declared.name
        recipe: Any = SimpleNamespace(checkpoint=Checkpoint(declared.name, home, wanted))
        slots = self.slots.get(declared.name, SLOTS_EACH)
        return Running(declared, recipe, scene.supervised, slots, phase)

    def compare(self, running: Running) -> FakeCandidate:
        return FakeCandidate(self, running)

    def listen(self) -> FakeAnswers:
        self.listening.append(FakeAnswers(self))
        return self.listening[-1]

    def try_out(self, _: object, broken_off: threading.Event) -> None:
        if self.scrutiny:
            raise self.scrutiny
        while not self.may_judge.wait(0.01):
            if broken_off.is_set():
                raise Transient("broken off")
        for found in (self.judgement, self.heartbeats):
            if found:
                raise found

    def read(self) -> Declarations:
        return read_declarations(SHIPPED_STREAMS, self.watches)

    def turns(self, declarations: Declarations | None = None, count: int = 6) -> None:
        if declarations:
            self.reload.take(declarations)
        for _ in range(count):
            self.turn()
        while self.may_judge.is_set() and self.asked():
            self.turn()

    def turn(self) -> None:
        self.fleet.look()
        self.reload.look()
        self.settle()
        self.clock.move(1)

    def stage(self) -> Any:
        return self.reload._handover.stage  # noqa: SLF001 - only the test waits for it

    def asked(self) -> Any:
        stage = self.stage()
        return stage if isinstance(stage, Asked) else None

    def settle(self) -> None:
        """Wait for trials and for what is done for watches in trouble, as far as they may end."""
        if self.may_judge.is_set() and (asked := self.asked()):
            assert asked.is_over(0, PATIENCE_SECONDS)
        for _, scene in self.made:
            if scene.remedies.may_end.is_set():
                assert scene.supervised.settles(PATIENCE_SECONDS)

    def edit(self, before: str, after: str, watch: str = WATCH) -> None:
        path = self.watches / f"{watch}.yaml"
        text = path.read_text()
        assert before in text
        path.write_text(text.replace(before, after))
        self.turns(self.read())

    def copy(self, name: str) -> None:
        """Declare one more watch, like the other one."""
        text = (self.watches / f"{OTHER}.yaml").read_text()
        path = self.watches / f"{name}.yaml"
        path.write_text(text.replace(f"watch: {OTHER}", f"watch: {name}"))
        self.turns(self.read())

    def queries(self, watch: str = WATCH) -> list[bool]:
        """Return for each query ever made for the watch whether it runs."""
        return [scene.runs for declared, scene in self.made if declared.name == watch]

    def catch_up(self) -> None:
        candidate = self.stage()
        assert isinstance(candidate, Candidate)
        candidate.caught_up = True
        self.turns()
