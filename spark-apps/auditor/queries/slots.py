"""How many tasks run at once, and a refusal where there are too few slots for them."""

from collections.abc import Mapping

from services.backbone.errors import Refused
from services.contracts.topics import heartbeat
from services.contracts.watches import WatchDeclaration


def topics_of(watch: WatchDeclaration) -> list[str]:
    """Return every topic that the watch subscribes to."""
    return [topic for stream in watch.streams for topic in (stream, heartbeat(stream))]


def slots_needed(watch: WatchDeclaration, partitions: Mapping[str, int], shuffled: int) -> int:
    """Return how many tasks of the watch run at once; `shuffled` counts those after shuffles."""
    return sum(partitions[topic] for topic in topics_of(watch)) + shuffled


def with_another(running: Mapping[str, int], watch: str, slots: int) -> dict[str, int]:
    """Return the slots by watch with one more; a changed rule comes beside the old one."""
    shown = f"{watch} beside itself" if watch in running else watch
    return {**running, shown: slots}


def check_slots(needed: Mapping[str, int], slots: int) -> None:
    """Refuse to start with too few slots: Real-time Mode would wait for ever, silently.

    Raises:
        Refused: with the number that is needed, by watch.
    """
    total = sum(needed.values())
    if slots >= total:
        return
    by_watch = ", ".join(f"{watch} {count}" for watch, count in needed.items())
    raise Refused(
        f"{total} slots are needed at once (input partitions and shuffle partitions: {by_watch}), "
        f"there are {slots}: set ALDEBARAN_AUDITOR_SLOTS={total} or more, or run fewer watches"
    )
