"""Runs in a pod: writes how many partitions the brokers have of each topic, as JSON."""

import json
import sys

from services.backbone.kafka.admin import TopicAdmin
from services.backbone.settings import KafkaSettings, read_settings

if __name__ == "__main__":
    admin = TopicAdmin(read_settings(KafkaSettings), "count")
    json.dump(admin.partitions(), sys.stdout)
