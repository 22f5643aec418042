"""Runs in a pod: counts the records of the bus channel's topic per delivery id, as JSON."""

import json
import sys
import uuid
from collections import Counter

from services.backbone.kafka.consumer import Consumer
from services.backbone.settings import KafkaSettings, read_settings
from services.contracts.topics import NOTIFICATIONS

QUIET_POLLS = 5


def main() -> None:
    """Read the topic from its beginning until nothing comes any more."""
    settings = read_settings(KafkaSettings, kafka_group_instance_id="")
    consumer = Consumer(settings, "count", group=uuid.uuid4().hex, topics=[NOTIFICATIONS])
    counts: Counter[str] = Counter()
    quiet = 0
    while not consumer.assigned() or quiet < QUIET_POLLS:
        batch = consumer.batch(1000, 0.2)
        quiet = 0 if batch else quiet + 1
        counts.update((each.key or b"").decode() for each in batch)
    consumer.close()
    json.dump(counts, sys.stdout)


if __name__ == "__main__":
    main()
