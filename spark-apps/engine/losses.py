"""What Spark says where records were deleted before they were read."""

from typing import Final

OUT_OF_RANGE: Final = "OffsetOutOfRangeException"
"""Real-time Mode never looks for lost records itself: its reader ends with Kafka's own word."""
SIGNS: Final = (
    "KAFKA_DATA_LOSS",
    "ata may have been lost",
    "ata may have been missed",
    OUT_OF_RANGE,
)
"""One of these stands in what Spark says of it, 4.2's connector on 4.3.0."""


def is_loss(text: str) -> bool:
    """Tell whether a message of Spark, which quotes no value, is about records that are gone."""
    return any(sign in text for sign in SIGNS)
