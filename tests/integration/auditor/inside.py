"""A supervised watch inside the test's own process, on the real broker."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import yaml
from pyspark.sql import SparkSession

from auditor.changes.means import RealMeans
from auditor.changes.reload import Reload
from auditor.changes.turn import Turn
from auditor.checkpoints.checkpoint import Checkpoint
from auditor.fleet import Fleet
from auditor.job import Scene, prepare_all
from auditor.queries.declared import Declarations, read_declarations
from auditor.settings import AuditorSettings
from auditor.supervision import Supervised
from services.backbone.clock import SystemClock
from tests.integration.auditor.running import Place, wait_for

COLUMNS = "order_id, max(client) AS client, max(stock) AS stock, 1 AS requested, 2 AS purchased"
REST = "collect_set(event_id) AS event_ids, max(appended_at) AS appended_at"


def settings_of(place: Place, **more: object) -> AuditorSettings:
    """The settings of an auditor in this place."""
    values: dict[str, object] = {
        "kafka_bootstrap_servers": place.bootstrap,
        "auditor_id": place.name,
        "auditor_watches": place.folder / "watches",
        "auditor_streams": place.folder / "streams",
        "auditor_checkpoints": place.folder / "checkpoints",
        "auditor_slots": 8,
        "auditor_batch_seconds": 5,
    } | more
    return AuditorSettings.model_validate(values)


def rewrite(place: Place, sql: str, watch: str = "over-purchase", **more: object) -> None:
    """Give a watch of the place another SQL over its streams, and no book.

    `<columns>` and `<rest>` are what it must return.
    """
    path = place.folder / "watches" / f"{watch}.yaml"
    declared = yaml.safe_load(path.read_text())
    whole = sql.replace("<columns>", COLUMNS).replace("<rest>", REST)
    whole = whole.replace("trades", place.stream)
    changed = declared | {"sql": whole, "book": None} | more
    path.write_text(yaml.safe_dump(changed, sort_keys=False))


class Inside:
    """Every watch of a place under supervision; used as a context, it ends their queries."""

    def __init__(self, spark: SparkSession, settings: AuditorSettings) -> None:
        self._scene = Scene(spark, settings, SystemClock())
        declared, means = self._declarations().watches, RealMeans(self._scene)
        self.fleet = Fleet(prepare_all(self._scene, means.prepare, declared.values()))

    def __getitem__(self, watch: str) -> Supervised:
        return self.fleet.running[watch].supervised

    def checkpoint(self, watch: str) -> Checkpoint:
        """Where the watch keeps its state."""
        return self.fleet.running[watch].recipe.checkpoint

    def __enter__(self) -> "Inside":
        return self

    def __exit__(self, *_: object) -> None:
        self.fleet.stop()

    @contextmanager
    def reload(self) -> Iterator[Reload]:
        """Give what takes the changes of what is declared by now."""
        turn = Turn(self._scene.settings.auditor_checkpoints)
        reload = Reload(self._scene, RealMeans(self._scene), self.fleet, turn)
        reload.take(self._declarations())
        try:
            yield reload
        finally:
            reload.stop()

    def _declarations(self) -> Declarations:
        settings = self._scene.settings
        return read_declarations(settings.auditor_streams, settings.auditor_watches)

    def look_until(self, what: str, condition: Callable[[], bool]) -> None:
        """Look after the watches until the condition holds."""

        def looked() -> bool:
            self.fleet.look()
            return condition()

        wait_for(what, looked)
