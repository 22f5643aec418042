"""Which messages stand for others that would wait too: young ones that no group holds, untried."""

from typing import Final

WAITS: Final = [
    ("SUPPRESSED", None, 0, 83, 1),
    ("SUPPRESSED", None, 0, 85, 0),
    ("SUPPRESSED", "g", 0, 0, 0),
    ("SUPPRESSED", None, 1, 0, 0),
    ("PENDING", None, 0, 0, 0),
    ("HELD", None, 0, 0, 0),
]
"""State, group, attempts, age in hours, and how many are found."""
