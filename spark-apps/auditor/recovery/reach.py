"""How far a watch has read, asked of its checkpoint and of the brokers."""

from auditor.checkpoints.offsets import Offsets, committed, lost, unread
from auditor.checkpoints.ranges import Range
from auditor.queries.query import Recipe
from auditor.queries.slots import topics_of
from engine.brokers import MissingTopic, kept_offsets
from services.backbone.errors import Transient


def unread_by(recipe: Recipe) -> list[Range]:
    """Return what lies on the brokers and was not committed.

    Raises:
        Transient: the brokers do not answer, or a topic is not there.
        Refused: a person has to change an option of the Kafka client, or the checkpoint's rights.
    """
    oldest, newest = _kept(recipe)
    return unread(_committed(recipe), oldest, newest)


def lost_by(recipe: Recipe) -> list[Range]:
    """Return what the brokers deleted before it was committed.

    Raises:
        Transient, Refused: as `unread_by`.
    """
    oldest, _ = _kept(recipe)
    return lost(_committed(recipe), oldest)


def _kept(recipe: Recipe) -> tuple[Offsets, Offsets]:
    """What was there when the watch began may be made anew: it is no reason to give up."""
    options, topics = recipe.settings.kafka_client_options(), topics_of(recipe.declared.watch)
    try:
        return kept_offsets(recipe.spark, options, topics)
    except MissingTopic as error:
        raise Transient(str(error)) from None


def _committed(recipe: Recipe) -> Offsets:
    """A checkpoint that cannot be read counts as one without a batch."""
    try:
        return committed(recipe.spark, recipe.checkpoint.location())
    except (OSError, ValueError):
        return {}
