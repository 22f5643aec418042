"""In how many windows of the shipped rule an event lies: each costs the auditor about the same."""

from services.contracts.durations import resolve
from services.contracts.watches import load_watch
from tests.bench.engine import SHIPPED


def windows_of(at_ms: int, length_ms: int, slide_ms: int) -> int:
    """Return how many windows `[n * slide, n * slide + length)` hold the moment."""
    return at_ms // slide_ms - (at_ms - length_ms) // slide_ms


def shipped_windows(at_ms: int) -> int:
    """Return how many windows of the shipped rule hold what is appended at the moment."""
    spans = resolve(load_watch(SHIPPED).durations)
    return windows_of(at_ms, spans["length"], spans["slide"])
