"""A watch that ran goes on with the words and rows that it ran with where new ones are refused."""

from pathlib import Path

from auditor.batches.stagger import Phase
from auditor.fleet import Running
from auditor.job import Prepare, Scene, recipe_of
from auditor.queries.current import read_current, refusal
from auditor.queries.declared import Declared
from engine.brokers import MissingTopic
from services.backbone.errors import Refused


def has_run(scene: Scene, declared: Declared) -> bool:
    """Tell whether what ran last of this watch has the state of what is declared.

    Raises:
        Transient, Refused: as `read_current`.
    """
    last = read_current(_home(scene, declared))
    partitions = scene.settings.auditor_shuffle_partitions
    return last is not None and last.face(partitions).state == declared.face(partitions).state


def prepare_again(scene: Scene, prepare: Prepare, declared: Declared, phase: Phase) -> Running:
    """Prepare a watch whose state is that of what ran last, as declared or as it ran.

    The reload meets what is refused again once it runs, and tells it.

    Raises:
        Refused, Transient: as `prepare`, or as `read_current`.
    """
    recipe_of(scene, declared).checkpoint.take_over()
    try:
        check_rows(scene, declared)
        return prepare(declared, phase)
    except MissingTopic:
        raise
    except Refused:
        last = read_current(_home(scene, declared))
        if last is None:
            raise
        return prepare(last, phase)


def check_rows(scene: Scene, declared: Declared) -> None:
    """Take no rows that a record has shown to be bad: it is read, and would not show it again.

    Raises:
        Refused: they were refused, and those before run since.
        Transient: what is noted of them cannot be read now.
    """
    if (why := refusal(_home(scene, declared), declared)) is not None:
        raise Refused(why)


def _home(scene: Scene, declared: Declared) -> Path:
    return scene.settings.checkpoints_here() / declared.name
