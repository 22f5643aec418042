"""The states of deliveries as statements list them."""

from collections.abc import Iterable
from typing import Final

from services.contracts.states import TERMINAL, State


def listed(states: Iterable[State]) -> str:
    """Return states as they stand between the brackets of IN."""
    return ", ".join(f"'{each}'" for each in sorted(states))


OVER: Final = listed(TERMINAL)
"""States in which nothing more happens by itself."""
