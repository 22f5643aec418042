"""From when a delivery's age counts."""

from typing import Final

FOUND: Final = "least(created_at, alerted_at)"
"""The finding; as the index deliveries_ages has it."""
AGED_SINCE: Final = f"greatest({FOUND}, to_timestamp((plan ->> 'asked_at_ms')::bigint / 1000.0))"
"""The finding, or when a message after intake was asked for."""
